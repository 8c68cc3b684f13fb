import { abuses, startAbuser } from "../build-tools/abuses.ts";
import { atMost, type Measurement } from "../row.ts";

/** The goals for each abuse: how much longer an honest build takes, and how much more memory the server has. */
const mostTimes = 1.3;
const mostMiB = 200;

/** Each abuse at full speed while an honest build works; one row for the slowest, and one for the largest. */
export const abusers: Measurement = {
  title: "one abuser while an honest build runs",
  long: true,
  async measure() {
    const abuser = await startAbuser();
    try {
      const all: { readonly name: string; readonly times: number; readonly growthMiB: number }[] =
        [];
      for (const abuse of abuses) {
        const { buildMs, usualBuildMs, growthMiB } = await abuser.measure(abuse);
        all.push({ name: abuse[0], times: buildMs / usualBuildMs, growthMiB });
      }
      const told = all
        .map(
          ({ name, times, growthMiB }) =>
            `${name}: ${times.toFixed(2)} ×, ${growthMiB.toFixed(0)} MiB`,
        )
        .join("; ");
      return [
        atMost(
          `one abuser: the honest build's time under the worst of ${all.length} abuses`,
          Math.max(...all.map(({ times }) => times)),
          mostTimes,
          "×",
          `120 small actions, compared with the same load on another server of the machine, by turns. ${told}`,
        ),
        atMost(
          `one abuser: growth of the server's memory under the worst of ${all.length} abuses`,
          Math.max(...all.map(({ growthMiB }) => growthMiB)),
          mostMiB,
          "MiB",
          "PSS at most, looked at each 200 ms",
        ),
      ];
    } finally {
      await abuser.stop();
    }
  },
};
