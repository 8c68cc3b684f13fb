import { abseil, whyNoAbseil } from "../../../scripts/build-tools/abseil.ts";
import { bazelSeven } from "../../../scripts/build-tools/bazel-seven.ts";
import { buildbox } from "../../../scripts/build-tools/buildbox.ts";
import { moon, whyNoMoon } from "../../../scripts/build-tools/moon.ts";
import { whyNoChroot } from "../../../scripts/build-tools/sid-chroot.ts";
import { bazelNeed } from "../../../test/build-tools/bazel.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { runTests } from "../run-tests.ts";

/** Bazel and the other clients of REv2 that are programs of others. */
export const bazelMeasurements: readonly Measurement[] = [
  {
    title: "Bazel 4, on its own and with a farm",
    long: false,
    measure: () => unless(bazelNeed.missing, "Bazel 4", () => rowsOfTests("bazel.test.ts")),
  },
  {
    title: "Bazel 4 while parts of the farm are killed and blobs are lost",
    long: false,
    measure: () => unless(bazelNeed.missing, "Bazel 4", () => rowsOfTests("bazel-faults.test.ts")),
  },
  {
    title: "abseil with Bazel 4",
    long: true,
    measure: () => unless(whyNoAbseil(), "abseil", abseil),
  },
  {
    title: "clients of buildbox",
    long: true,
    measure: () => unless(whyNoChroot(), "clients of buildbox", buildbox),
  },
  {
    title: "Bazel 7",
    long: true,
    measure: () => unless(whyNoChroot(), "Bazel 7", bazelSeven),
  },
  {
    title: "moon",
    long: true,
    measure: () => unless(whyNoMoon(), "moon", moon),
  },
];

/** A tool that cannot be tested here is reported as a row, so that its absence does not look like success. */
async function unless(
  whyNot: string | undefined,
  name: string,
  measure: () => Promise<Row[]>,
): Promise<Row[]> {
  if (whyNot === undefined) return measure();
  const how = `not tried here: ${whyNot}`;
  return [{ name, figure: null, unit: "", goal: "for information", holds: true, how }];
}

async function rowsOfTests(file: string): Promise<Row[]> {
  const path = `test/build-tools/${file}`;
  const results = await runTests(path);
  return results.flatMap(({ title, passed, ms, why }) => [
    exactly(`Bazel 4: ${title}`, passed ? "yes" : `no: ${why}`, "yes", "", path),
    forInformation(`Bazel 4: ${title}: took`, ms / 1_000, "s", path),
  ]);
}
