import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { quantile } from "../quantile.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { type DuneProject, duneItself, duneToy } from "./dune-project.ts";
import { fourTimings, rowsOf } from "./four-timings.ts";
import { startGranaryLab } from "./granary-lab.ts";
import { roundsOr } from "./rounds.ts";

const roundTripMs = 20;
// A build of dune's own sources takes a minute.
const turns = { toy: roundsOr(10), itself: roundsOr(3) };
/** Longer than fetching takes for any of them. */
const waitLimitMs = ["--wait-for-prefetch", "60000"];

/** The seed's own case: its tool, its four timings, and one or two projects. */
export const duneTimings: readonly Measurement[] = [
  {
    title: "a real dune 2.9.3: four timings, 20 ms",
    long: false,
    measure: () => measureDune(turns.toy, [], (work) => duneToy(work)),
  },
  {
    title: "a real dune 2.9.3: four timings, fetched first, 20 ms",
    long: false,
    measure: () =>
      measureDune(turns.toy, waitLimitMs, async (work) => {
        const project = await duneToy(work);
        return { ...project, name: `${project.name}, fetched first` };
      }),
  },
  {
    title: "dune's own sources: four timings, 20 ms",
    long: false,
    async measure() {
      const checkout = process.env["GRANGE_SHOW_DUNE_SOURCES"];
      if (checkout === undefined) {
        const why =
          "not tried: GRANGE_SHOW_DUNE_SOURCES names no checkout of dune's sources (tag 2.9.3)";
        return [
          {
            name: "dune's own sources",
            figure: "not tried",
            unit: "",
            goal: "for information",
            holds: true,
            how: why,
          },
        ];
      }
      return [
        ...(await measureDune(turns.itself, [], (work) => duneItself(work, checkout))),
        ...(await measureDune(turns.itself, waitLimitMs, async (work) => {
          const project = await duneItself(work, checkout);
          return { ...project, name: `${project.name}, fetched first` };
        })),
      ];
    },
  },
];

/** A row for a machine that cannot measure it; undefined where dune 2 is installed. */
export function withoutDune(): Row | undefined {
  let version: string;
  try {
    version = execFileSync("dune", ["--version"], { encoding: "utf8" }).trim();
  } catch {
    version = "none";
  }
  if (version.startsWith("2.") && existsSync("/usr/bin/perl")) return undefined;
  return {
    name: "a real dune 2.9.3",
    figure: null,
    unit: "",
    goal: "measured",
    holds: false,
    how: `dune 2 is not installed (apt-get install ocaml-dune ocaml-nox): ${version}`,
  };
}

async function measureDune(
  rounds: number,
  more: readonly string[],
  open: (work: string) => Promise<DuneProject>,
): Promise<Row[]> {
  const whyNot = withoutDune();
  if (whyNot !== undefined) return [whyNot];
  const lab = await startGranaryLab({ roundTripMs, bytesPerSecond: 100e6 / 8 });
  try {
    const project = await open(lab.work);
    const timings = await fourTimings(lab, project, rounds, { more });
    const isFirst = more.length > 0;
    return [
      ...rowsOf(project.name, roundTripMs, timings, { overhead: !isFirst, distance: isFirst }),
      ...executedRows(project),
      exactly(
        `${project.name}, ${roundTripMs} ms: what came out`,
        timings.products.size,
        1,
        "kinds",
        "SHA-256 of its outputs in all builds",
      ),
    ];
  } finally {
    await lab.stop();
  }
}

/** dune does not count hits; its log contains the executed rules. */
function executedRows({ name, executed }: DuneProject): Row[] {
  const all = quantile(executed("off"), 0.5);
  return (["farm", "full"] as const).map((wanted) =>
    forInformation(
      `${name}, ${roundTripMs} ms: commands that dune ran, ${wanted === "farm" ? "nothing here, farm full" : "all full"}`,
      quantile(executed(wanted), 0.5),
      `of ${all}`,
      `from ${Math.min(...executed(wanted))} to ${Math.max(...executed(wanted))}; by dune's log`,
    ),
  );
}
