import { badInputs, tryBadInput } from "../../../test/end-to-end/bad-input-cases.ts";
import { startFarm } from "../../../test/support/farm.ts";
import type { Measurement, Row } from "../row.ts";

export const badInput: Measurement = {
  title: "bad input",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    try {
      const rows: Row[] = [];
      for (const bad of badInputs) {
        const whyNot = bad.need?.missing;
        if (whyNot !== undefined) {
          rows.push({ ...row(bad.name), figure: null, holds: false, how: whyNot });
          continue;
        }
        const { code, said, missing } = await tryBadInput(bad, farm);
        const clear = missing.length === 0 && code !== 0;
        rows.push({
          ...row(bad.name),
          figure: clear ? `exit ${code}` : `exit ${code}, says not ${missing.join(" ")}`,
          holds: clear,
          how: said.trim().split("\n").slice(0, 1).join(" ").slice(0, 120),
        });
      }
      return rows;
    } finally {
      await farm.stop();
    }
  },
};

function row(name: string): Pick<Row, "name" | "unit" | "goal"> {
  return { name: `bad input: ${name}`, unit: "", goal: "exit ≠ 0; what, where, a way out" };
}
