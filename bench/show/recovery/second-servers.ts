import { places, startSecondServers } from "../../../test/faults/second-server.ts";
import { exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const secondServers: Measurement = {
  title: "a second server on a data directory",
  long: false,
  measure: () => measure(1),
};

export const manySecondServers: Measurement = {
  title: "a second server on a data directory, 20 times in each place",
  long: true,
  measure: () => measure(20),
};

async function measure(startsEach: number): Promise<Row[]> {
  const { notRefused, violations, starts } = await startSecondServers(startsEach);
  const first = notRefused[0] === undefined ? "" : `; the first: ${notRefused[0]}`;
  const how =
    `${starts} starts of a second server under load (${places.join(", ")}); then the first one was killed, and its ` +
    `successor read every graph and result${first}${firstOf(violations)}`;
  return [
    exactly(`second servers that were not refused, of ${starts}`, notRefused.length, 0, "", how),
    exactly(`promises broken by ${starts} second servers`, violations.length, 0, "", how),
  ];
}
