import { crashAtPoints, crashPoints } from "../../../test/faults/crash-points/crash-at-points.ts";
import { exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const crashesAtPoints: Measurement = {
  title: "crash at named points",
  long: false,
  measure: () => measure(1),
};

export const manyCrashesAtPoints: Measurement = {
  title: "crash at named points, 20 times each",
  long: true,
  measure: () => measure(20),
};

async function measure(times: number): Promise<Row[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const points = Array.from({ length: times }, () => crashPoints).flat();
  const { violations, crashes, jobs } = await crashAtPoints({ points, seed });
  const how =
    `${crashes} times, one after the other, the server was killed before and after a commit, an fsync, a rename and a ` +
    `send, and the worker before and after a rename and a send, at positions of seed ${seed}, while ${jobs} jobs ran; ` +
    `judged by what clients saw${firstOf(violations)}`;
  return [
    exactly(`promises broken by ${crashes} crashes at points`, violations.length, 0, "", how),
  ];
}
