import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type KeyRecord, keyRecord, newKey, SCOPES } from "./lib/keys.ts";

const HELP = `fleetgate key: makes a key for the coordinator

  ./scripts/key --id gpu-a --scopes worker,read [--fleets render,infer] [--queues q1] [--append FILE]

  --id      a name for logs, unique among your keys
  --scopes  any of ${SCOPES.join(", ")} (admin is everything)
  --fleets  the only fleets it may touch (default: all)
  --queues  the only queues it may touch (default: all)
  --append  add the record to this JSON file of records, made when missing

The key is shown once; the coordinator only ever holds its SHA-256.
`;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

function readOptions() {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      id: text,
      scopes: text,
      fleets: text,
      queues: text,
      append: text,
      help: { type: "boolean", short: "h" },
    },
  });
  return values;
}

function names(option: string, list: string | undefined): string[] | undefined {
  const given = list?.split(",").map((name) => name.trim());
  const wrong = given?.find((name) => !NAME.test(name));
  if (wrong !== undefined)
    throw new Error(`${option}: "${wrong}" is no name (A-Z a-z 0-9 . _ -, at most 128)`);
  return given;
}

function readScopes(list: string | undefined): string[] {
  const scopes = names("--scopes", list);
  if (!scopes) throw new Error(`--scopes is needed: any of ${SCOPES.join(", ")}`);
  const unknown = scopes.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  if (unknown) throw new Error(`--scopes: "${unknown}" is none of ${SCOPES.join(", ")}`);
  return scopes;
}

function readRecords(file: string): KeyRecord[] {
  let records: unknown;
  try {
    records = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new Error(`${file} cannot be read as JSON`);
  }
  if (!Array.isArray(records) || records.some((record) => typeof record?.id !== "string"))
    throw new Error(`${file} holds no JSON array of keys`);
  return records;
}

function append(file: string, record: KeyRecord) {
  const records = existsSync(file) ? readRecords(file) : [];
  if (records.some(({ id }) => id === record.id))
    throw new Error(`${file} already has a key with id ${record.id}`);
  writeFileSync(file, `${JSON.stringify([...records, record], null, 2)}\n`, { mode: 0o600 });
}

function main() {
  const options = readOptions();
  if (options.help) return void process.stdout.write(HELP);
  const [id] = names("--id", options.id) ?? [];
  if (id === undefined) throw new Error("--id is needed");
  if (id !== options.id) throw new Error("--id is one name");
  const scopes = readScopes(options.scopes);
  const fleets = names("--fleets", options.fleets);
  const queues = names("--queues", options.queues);
  const key = newKey();
  const record = keyRecord(key, { id, scopes, ...(fleets && { fleets }), ...(queues && { queues }) });
  if (options.append) append(options.append, record);
  console.log(`key     ${key}`);
  console.log(`record  ${JSON.stringify(record)}`);
  console.log(instructions(options.append));
}

/** Cloudflare never shows a secret again, so the array of records lives with you and is put as a whole. */
function instructions(file: string | undefined): string {
  if (file) return `\nTo put it in force:\n  npx wrangler secret put FLEETGATE_KEYS < ${quoted(file)}`;
  return `
To put it in force, add the record to your JSON array of records (--append FILE does that), then:
  npx wrangler secret put FLEETGATE_KEYS < FILE`;
}

/** As a shell reads it, whatever is in its name. */
function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}

try {
  main();
} catch (error) {
  console.error(`fleetgate key: ${(error as Error).message}`);
  process.exitCode = 1;
}
