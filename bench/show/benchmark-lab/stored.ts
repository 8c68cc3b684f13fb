import { asRustcPerf, measureHistory } from "../../benchmark-history.ts";
import { atMost, forInformation, type Measurement } from "../row.ts";

const how = `${asRustcPerf.cases} cases × ${asRustcPerf.artifacts.toLocaleString("en")} commits × 8 metrics in PostgreSQL; by the functions that the API calls`;

export const storedHistory: Measurement = {
  title: "700 cases × 3,000 commits",
  long: false,
  async measure() {
    const figures = await measureHistory(asRustcPerf);
    return [
      forInformation("stored: results", figures.results, "results", how),
      atMost("stored: a compare page's data, the first time", figures.comparisonMs, 100, "ms", how),
      atMost("stored: a compare page's data, known", figures.comparisonKnownMs, 100, "ms", how),
      atMost("stored: one series", figures.seriesMs, 50, "ms", how),
      atMost("stored: status", figures.statusMs, 50, "ms", how),
      forInformation("stored: the page of graphs", figures.gridMs, "ms", how),
      forInformation("stored: the list of suites", figures.suitesMs, "ms", how),
      forInformation(
        "stored: all series of a new commit looked through for steps",
        figures.examineMs,
        "ms",
        how,
      ),
      forInformation(
        "stored: database for each 1,000 commits",
        figures.bytesPerThousand / 2 ** 20,
        "MiB",
        Object.entries(figures.bytesOf)
          .map(([table, bytes]) => `${table} ${Math.round(bytes / 2 ** 20)} MiB`)
          .join(", "),
      ),
    ];
  },
};
