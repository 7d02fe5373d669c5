import { createHash, randomBytes } from "node:crypto";

/** What a key may be allowed to do; `admin` is everything. */
export const SCOPES = ["worker", "producer", "read", "admin"] as const;

/** What the Worker holds of a key (one entry of FLEETGATE_KEYS): never the key itself. */
export interface KeyRecord {
  id: string;
  /** Hex SHA-256 of the key's text. */
  sha256: string;
  scopes: string[];
  /** The only fleets it may touch; absent means all. */
  fleets?: string[];
  /** The only queues it may touch; absent means all. */
  queues?: string[];
}

/** Makes a key of 32 random bytes, as `fg_` and 43 characters of base64url. */
export function newKey(): string {
  return `fg_${randomBytes(32).toString("base64url")}`;
}

/** Makes the record under which the Worker knows `key`. */
export function keyRecord(key: string, allowed: Omit<KeyRecord, "sha256">): KeyRecord {
  const { id, ...rest } = allowed;
  return { id, sha256: createHash("sha256").update(key).digest("hex"), ...rest };
}
