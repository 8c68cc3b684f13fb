import type { RestoreStep } from "#backup/restore-backup.ts";
import type { BackupStep } from "#backup/take-backup.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Outlet } from "../terminal/terminal.ts";

type Step = BackupStep | RestoreStep;

const lineEveryMs = 10_000;
const drawEveryMs = 100;

/** Describes the progress of a backup, a restore or a check, in one line. */
function stepText(step: Step): string {
  switch (step.kind) {
    case "database":
      return `database: ${step.tables} of ${step.of} tables${"bytes" in step ? `, ${memorySizeText(step.bytes)}` : ""}`;
    case "blobs":
      return "copied" in step
        ? `blobs: ${step.blobs} checked, ${step.copied} new (${memorySizeText(step.copiedBytes)})`
        : `blobs: ${step.blobs} of ${step.of}, ${memorySizeText(step.bytes)}`;
    case "checking":
      return `checking: ${step.files} of ${step.of} files`;
    case "removing old backups":
      return "removing old backups";
  }
}

/** Shows steps: in place on a terminal; otherwise a line every 10 s, and one when a kind of step has ended. */
export function showSteps(
  notes: Outlet,
  nowMs: () => number = () => performance.now(),
): {
  readonly step: (step: Step) => void;
  /** Call it before any other output. */
  readonly end: () => void;
} {
  let last: Step | undefined;
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let isShown = true;
  const tell = () => {
    if (last !== undefined && !isShown) notes.line(stepText(last));
    isShown = true;
    shownAtMs = nowMs();
  };
  return {
    step(step: Step) {
      if (last !== undefined && last.kind !== step.kind) tell();
      last = step;
      isShown = false;
      const everyMs = notes.block === undefined ? lineEveryMs : drawEveryMs;
      if (nowMs() - shownAtMs < everyMs) return;
      if (notes.block === undefined) tell();
      else {
        notes.block.draw([stepText(step)]);
        shownAtMs = nowMs();
      }
    },
    end() {
      notes.block?.clear();
      tell();
      notes.block?.leave();
    },
  };
}
