import { atLeast, exactly, type Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";

/** Layers and registries that no honest tool makes. */
export const hostileImages: Measurement = {
  title: "hostile images, layers and registries",
  long: false,
  async measure() {
    const tests = await runTests(
      "src/worker/image/oci/hostile-layers.test.ts",
      "src/images/registry-client.test.ts",
      "src/images/image-reference.test.ts",
    );
    const bad = tests.filter(({ passed }) => !passed);
    const told = bad.map(({ title, why }) => `${title}: ${why}`).join("; ");
    return [
      atLeast(
        "hostile images: cases",
        tests.length,
        60,
        "cases",
        "layers are unpacked beside a directory that must not change; registries are servers that break the specification",
      ),
      exactly(
        "hostile images: cases that were not refused or contained",
        bad.length,
        0,
        "cases",
        told === "" ? "each has the expected reason" : told,
      ),
    ];
  },
};
