import type { Show } from "../row.ts";
import { hostileFarms } from "./against-hostile-farms.ts";
import { distances } from "./distances.ts";
import { duneTimings } from "./dune.ts";
import { duneFaults } from "./dune-faults.ts";
import { farmGraph } from "./farm-graph.ts";
import { faultMeasurements } from "./faults.ts";
import { fromFarm, measureFour } from "./four-timings.ts";
import { hintsMeasurement } from "./hints.ts";
import { hostileGranaries } from "./hostile-granaries.ts";
import { bazelBuilt, ccacheProject } from "./project.ts";
import { realHistory } from "./real-history.ts";
import { roundsOr } from "./rounds.ts";
import { sharing } from "./sharing.ts";

const ccacheFiles = 80;
/** Most code bases have more files, and then a build's start is a smaller share of the total. */
const manyCcacheFiles = 300;
const bazelLibraries = 130;
const roundTrips = [0, 20, 80];
const rounds = { judged: roundsOr(10), others: roundsOr(3) };

/** The granary compared with no cache, at a distance, with faults. */
export const granaryShow: Show = {
  name: "granary",
  measurements: [
    ...roundTrips.map((ms) => ({
      title: `four timings: ccache, ${ms} ms`,
      long: ms !== 20,
      measure: () =>
        measureFour(ms, ms === 20 ? rounds.judged : rounds.others, (work) =>
          ccacheProject(work, ccacheFiles),
        ),
    })),
    {
      title: `nothing here to all here: ccache, ${manyCcacheFiles} files, 20 ms`,
      long: false,
      measure: () =>
        measureFour(
          20,
          rounds.judged,
          async (work) => {
            const project = await ccacheProject(work, manyCcacheFiles);
            return { ...project, name: `${project.name}, ${manyCcacheFiles} files` };
          },
          fromFarm,
        ),
    },
    ...roundTrips.map((ms) => ({
      title: `four timings: Bazel, ${ms} ms`,
      long: ms !== 20,
      measure: () =>
        measureFour(ms, ms === 20 ? rounds.judged : rounds.others, (work) =>
          bazelBuilt(work, bazelLibraries),
        ),
    })),
    ...duneTimings,
    duneFaults,
    farmGraph,
    distances,
    hintsMeasurement,
    realHistory,
    sharing,
    ...faultMeasurements,
    hostileGranaries,
    hostileFarms,
  ],
};
