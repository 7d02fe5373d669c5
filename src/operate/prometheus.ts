type Labels = Readonly<Record<string, string>>;

/** One metric of the Prometheus text format: its samples are lines under one HELP and one TYPE. */
export interface Metric {
  name: string;
  type: "gauge" | "counter" | "histogram" | "summary";
  help: string;
  samples: { suffix?: string; labels?: Labels; value: number }[];
}

/** Media type of the text. */
export const PROMETHEUS_MEDIA = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics as the text a scrape reads; one without samples is left out. */
export function prometheusText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelsText(labels)} ${value}`,
      );
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`;
    })
    .join("");
}

/** The lines of a histogram in seconds from counts between bounds in ms, the last of which is above all of them. */
export function histogram(
  labels: Labels,
  boundsMs: readonly number[],
  counts: readonly number[],
  sumMs: number,
): Metric["samples"] {
  let below = 0;
  const buckets = [...boundsMs, Number.POSITIVE_INFINITY].map((bound, place) => {
    below += counts[place] ?? 0;
    const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound / 1_000);
    return { suffix: "_bucket", labels: { ...labels, le }, value: below };
  });
  return [...buckets, ...sumAndCount(labels, sumMs, below)];
}

/** The lines of a summary without quantiles. */
export function sumAndCount(labels: Labels, sumMs: number, count: number): Metric["samples"] {
  return [
    { suffix: "_sum", labels, value: sumMs / 1_000 },
    { suffix: "_count", labels, value: count },
  ];
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

const escaped = (value: string) =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
