import type { World } from "./world.ts";

/** A scrape as lines by their name and labels, after checking the shape of the text. */
export async function scrape(world: World, key = "read-key"): Promise<Map<string, number>> {
  const { status, body, headers } = await world.call("GET", "/metrics", undefined, key);
  if (status !== 200) throw new Error(`/metrics answered ${status}`);
  if (!headers.get("content-type")?.startsWith("text/plain; version=0.0.4"))
    throw new Error("wrong media type");
  return parseScrape(body);
}

/** Reads the text format strictly: each line under its HELP and TYPE, none twice. */
export function parseScrape(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  let [help, type] = ["", ""];
  for (const line of text.split("\n").slice(0, -1)) {
    const comment = /^# (HELP|TYPE) (fleetgate_[a-z_]+) (.+)$/.exec(line);
    if (comment?.[1] === "HELP") help = comment[2] ?? "";
    else if (comment?.[1] === "TYPE") type = comment[2] ?? "";
    else {
      const sample = /^((fleetgate_[a-z_]+)(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) (\d[\d.e+]*)$/.exec(
        line,
      );
      const [, id = "", name = "", value = ""] = sample ?? [];
      if (!sample || help !== type || !name.startsWith(type)) throw new Error(`a line out of place: ${line}`);
      if (samples.has(id)) throw new Error(`twice: ${id}`);
      samples.set(id, Number(value));
    }
  }
  return samples;
}
