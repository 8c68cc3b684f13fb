import type { RequestDetail } from "#api/benchmark-request.ts";
import type { CollectorView } from "#api/collector.ts";

export function madeUpCollectors(now: Date, requests: readonly RequestDetail[]): CollectorView[] {
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
  const jobs = requests[0]?.jobList.filter(({ state }) => state === "in-progress") ?? [];
  const collector = (name: string, changes: Partial<CollectorView>): CollectorView => ({
    name,
    target: "linux-x64",
    set: 0,
    mayTakeOver: [],
    active: true,
    outOfDuty: null,
    state: "measuring",
    addedAt: ago(50_000),
    lastHeartbeatAt: ago(0.1),
    version: "0.6.0",
    environment: {
      cpu: "AMD Ryzen 7 PRO 8700GE w/ Radeon 780M Graphics",
      kernel: "6.12.48",
      governor: "performance",
      smt: "off",
      aslr: "off",
      node: "v20.19.2",
    },
    fingerprint: "5f1c77aa905f1c77aa90",
    job: null,
    meanJobSeconds: 148,
    selfTest: { at: ago(600), passed: true, comparisons: 300, alarms: 0 },
    ...changes,
  });
  return [
    collector("barn-1", { job: jobs[0] ?? null, mayTakeOver: [1] }),
    collector("barn-2", { set: 1, job: jobs[1] ?? null }),
    collector("barn-3", {
      target: "linux-arm64",
      set: 1,
      state: "offline",
      lastHeartbeatAt: ago(184),
      selfTest: null,
    }),
    collector("barn-4", {
      target: "linux-arm64",
      set: 0,
      state: "out-of-duty",
      outOfDuty:
        "Its self-test failed: 7 false alarms in 300 comparisons of an artifact with itself.",
      selfTest: { at: ago(400), passed: false, comparisons: 300, alarms: 7 },
    }),
    collector("barn-5", {
      set: null,
      target: "macos-arm64",
      state: "never-seen",
      lastHeartbeatAt: null,
      environment: null,
      fingerprint: null,
      version: null,
      meanJobSeconds: null,
      selfTest: null,
    }),
  ];
}
