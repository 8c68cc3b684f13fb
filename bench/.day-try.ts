import { withBenchDatabase } from "./bench-database.ts";
import { replayDayOn } from "./dummy-day.ts";
const jobs = Number(process.argv[2] ?? 12700);
const times = new Map<string, {n: number, ms: number}>();
const wrap = (tx: any): any => ({
  ...tx,
  many: (row: any, s: any) => timed(s.text, () => tx.many(row, s)),
  run: (s: any) => timed(s.text, () => tx.run(s)),
  script: tx.script, listen: tx.listen, close: tx.close,
  transaction: (w: any) => timed("TRANSACTION", () => tx.transaction((t: any) => w(wrap(t)))),
});
async function timed(text: string, f: any) {
  const key = text.replace(/\s+/g, " ").slice(0, 90);
  const t = performance.now();
  try { return await f(); } finally {
    const e = times.get(key) ?? {n: 0, ms: 0}; e.n++; e.ms += performance.now() - t; times.set(key, e);
  }
}
await withBenchDatabase(async (db) => {
const r = await replayDayOn(wrap(db), { jobs, seed: 7, gridSeconds: Number(process.argv[3] ?? 10), progress: (o, n, s) => console.log(o, n, s.toFixed(1), (o/s).toFixed(0)) });
console.log(r);
for (const [k, v] of [...times].sort((a, b) => b[1].ms - a[1].ms).slice(0, 25)) console.log(v.n, v.ms.toFixed(0), (v.ms/v.n).toFixed(2), k);
});
