import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

// zod/mini has no words of its own; without these every refusal would read "Invalid input".
z.config(en());

const bytes = (text: string) => new TextEncoder().encode(text).length;

/** A name on the wire: 1…128 characters, letters and digits first. Fleet, queue, cluster, class, instance, request. */
export const name = z.string().check(
  z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, {
    error: "must be 1 to 128 of A-Z a-z 0-9 . _ - and start with a letter or digit",
  }),
);

/** A pod's name: as `name`, up to the 253 characters that Kubernetes allows. */
export const podName = z.string().check(
  z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/, {
    error: "must be 1 to 253 of A-Z a-z 0-9 . _ - and start with a letter or digit",
  }),
);

/** A duration a caller sets, in whole milliseconds: one second to one day. */
export const durationMs = z.int().check(z.minimum(1_000), z.maximum(86_400_000));

/** How long a call may wait for a yes, in whole milliseconds: 0 to 25 s. */
export const waitMs = z.int().check(z.minimum(0), z.maximum(25_000));

/** Denials the caller has already had for this logical request; sets the length of the next wait. */
export const attempt = z.int().check(z.minimum(0), z.maximum(1_000_000));

/** An opaque lease id: text of at most 1,200 bytes. The empty one is like any that we never made: lost, not wrong. */
export const leaseId = z
  .string()
  .check(z.refine((text) => bytes(text) <= 1_200, { error: "must be at most 1200 bytes" }));

/** Any text of 1…1,024 bytes: the key of a limit, an item of a filter. Only its hash is stored. */
export const anyText = z.string().check(
  z.minLength(1),
  // Half a surrogate pair has no UTF-8, and all halves would be hashed as one.
  z.refine((text) => !/\p{Surrogate}/u.test(text), { error: "must be well-formed Unicode" }),
  z.refine((text) => bytes(text) <= 1_024, { error: "must be at most 1024 bytes" }),
);

/** A page size and an opaque place to go on from. */
export const page = z.strictObject({
  cursor: z.optional(z.string().check(z.maxLength(1_200))),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(1_000)), 100),
});

/** Names of a list whose records cannot be read, each with what to do; absent where there are none. */
export const broken = z.optional(z.array(z.object({ name: z.string(), detail: z.string() })));
