import { z } from "zod";
import { quantile } from "../quantile.ts";
import { rangeOf, short } from "./comparison-rows.ts";

const side = z.object({ name: z.string(), samples: z.array(z.number()) });

/** What the table reads of the output of `npm run show -- field --json`. */
export const FieldResult = z.object({
  commit: z.string(),
  machine: z.string(),
  rows: z.array(
    z.object({
      name: z.string(),
      figure: z.union([z.number(), z.string()]).nullable(),
      unit: z.string(),
      goal: z.string(),
      holds: z.boolean(),
      how: z.string(),
      compared: z
        .object({
          what: z.string(),
          unit: z.string(),
          better: z.enum(["higher", "lower"]),
          ours: side,
          peer: side,
        })
        .optional(),
    }),
  ),
});
type FieldResult = z.infer<typeof FieldResult>;

/** Returns the comparisons as a Markdown table: one line for each quantity and peer. */
export function fieldTable({ rows }: FieldResult): string {
  const lines = rows.flatMap(({ compared, figure, unit, goal, holds, name }) => {
    if (compared === undefined)
      return figure === null ? [[name, "", "", "not measured", goal]] : [];
    const { what, ours, peer } = compared;
    return [
      [
        `${what}, ${compared.unit}`,
        valueCell(ours.samples),
        `${peer.name}: ${valueCell(peer.samples)}`,
        `${figure} ${unit}`,
        goal === "for information" ? "" : `${goal}${holds ? "" : ": not reached"}`,
      ],
    ];
  });
  const header = ["what", "Grange", "peer", "ratio", "goal"];
  return [header, header.map(() => "---"), ...lines]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

function valueCell(samples: readonly number[]): string {
  return `${short(quantile(samples, 0.5))} (${rangeOf(samples)})`;
}
