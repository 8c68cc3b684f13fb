import { jobNames, type Round, smallAndLarge } from "../../../test/size-classes/ten-rounds.ts";
import type { Measurement, Row } from "../row.ts";

const rounds = 10;
const how =
  "two workers on this machine, class 1 (one CPU, 256 MiB) and class 2 (two CPUs, 2 GiB); one commit a round, whose graph has a job of each kind";

/** Real workers and a real graph, ten commits one after the other: the chosen classes, and the explanations. */
export const realThing: Measurement = {
  title: "the real thing: ten rounds of four jobs on two classes",
  long: false,
  async measure() {
    const set = await smallAndLarge();
    try {
      const history: Record<string, Round>[] = [];
      for (let i = 0; i < rounds; i++) history.push(await set.round());
      const of = (name: string) => history.flatMap((round) => round[name] ?? []);
      const rows = jobNames.map((name) => endsUpOn(name, of(name)));
      const said = jobNames.map((name) => of(name).at(-1)?.reason ?? "");
      return [
        ...rows,
        recognised(of("hungry")),
        onceOnly(of("failing")),
        {
          name: "each last decision is explained",
          figure: said.filter((text) => text !== "").length,
          unit: "of 4",
          goal: "4 of 4",
          holds: said.every((text) => text !== ""),
          how: said.map((text, i) => `${jobNames[i]}: ${text}`).join(" | "),
        },
      ];
    } finally {
      await set.stop();
    }
  },
};

const expected = { single: "1", parallel: "2", hungry: "2", failing: "2" } as const;

function endsUpOn(name: keyof typeof expected, history: readonly Round[]): Row {
  const path = history.map(({ attempts }) => attempts.map(({ sizeClass }) => sizeClass).join("→"));
  const last = path.slice(-3);
  return {
    name: `${name}: class of each round`,
    figure: path.join(" "),
    unit: "",
    goal: `the last three on ${expected[name]}`,
    holds: last.every((each) => each === expected[name]),
    how,
  };
}

function recognised(history: readonly Round[]): Row {
  const first = history.find(({ attempts }) => attempts[0]?.sizeClass === 1);
  const figure = first?.attempts
    .map(({ sizeClass, outcome }) => `${sizeClass}: ${outcome}`)
    .join(", ");
  return {
    name: "memory exhausted on the small class: the attempts of that round",
    figure: figure ?? "it was never tried on class 1",
    unit: "",
    goal: "1: out_of_memory, 2: succeeded; later rounds on 2 at once",
    holds:
      figure === "1: out_of_memory, 2: succeeded" &&
      history
        .slice(history.indexOf(first as Round) + 1)
        .every(({ attempts }) => attempts.length === 1),
    how,
  };
}

function onceOnly(history: readonly Round[]): Row {
  const last = history.slice(-5);
  const runs = last.reduce((sum, { attempts }) => sum + attempts.length, 0);
  return {
    name: "a job that fails by itself: attempts in the last five rounds",
    figure: runs,
    unit: "",
    goal: "5",
    holds: runs === 5 && history.every(({ state }) => state === "failed"),
    how,
  };
}
