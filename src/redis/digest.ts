/** The SHA-256 of a text's UTF-8 bytes, as bytes. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** A text as it stands in a key: the first 128 bits of its SHA-256, in hex. */
export async function keyHash(text: string): Promise<string> {
  const bytes = (await sha256(text)).subarray(0, 16);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
