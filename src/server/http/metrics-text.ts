/**
 * A measured quantity, with its samples.
 *
 * Names and units follow OpenMetrics 1.0: base units (seconds, bytes), and the unit at the end of the name. A
 * histogram's counts are cumulative, and its last bound is infinite.
 */
export type MetricFamily =
  | {
      /** It only increases. Its name is without the `_total` that its samples have. */
      readonly kind: "counter";
      readonly name: string;
      readonly help: string;
      readonly samples: readonly Sample[];
    }
  | {
      readonly kind: "gauge";
      readonly name: string;
      readonly help: string;
      readonly samples: readonly Sample[];
    }
  | {
      readonly kind: "histogram";
      readonly name: string;
      readonly help: string;
      readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
      readonly count: number;
      readonly sum: number;
    };

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Readable as OpenMetrics 1.0, and as the older text format 0.0.4: they differ only in the content type and the last
 * line.
 */
export function metricsText(families: readonly MetricFamily[], ending: "# EOF\n" | ""): string {
  return families.map(familyText).join("") + ending;
}

function familyText(family: MetricFamily): string {
  const { name, help, kind } = family;
  const lines = [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${kind}`];
  switch (family.kind) {
    case "counter":
      for (const { labels = {}, value } of family.samples) {
        lines.push(`${name}_total${labelsText(labels)} ${numberText(value)}`);
      }
      break;
    case "gauge":
      for (const { labels = {}, value } of family.samples) {
        lines.push(`${name}${labelsText(labels)} ${numberText(value)}`);
      }
      break;
    case "histogram":
      for (const { upTo, count } of family.buckets) {
        lines.push(`${name}_bucket{le="${numberText(upTo)}"} ${count}`);
      }
      lines.push(
        `${name}_bucket{le="+Inf"} ${family.count}`,
        `${name}_sum ${numberText(family.sum)}`,
        `${name}_count ${family.count}`,
      );
  }
  return `${lines.join("\n")}\n`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escapedLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function escapedLabel(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}

function escapedHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
