import { digestOf } from "#cas/digest-of.ts";
import { showableOptions, withoutPasswords } from "#core/hide-secrets.ts";
import { keepableText } from "#core/keepable-text.ts";
import {
  type Aborted,
  Aborted_AbortReason,
  type BuildEvent,
  type BuildEventId,
  type BuildEventId_TestResultId,
  type BuildFinished,
  type BuildStarted,
  type File,
  type TargetComplete,
  type TestResult,
  TestStatus,
} from "#proto/build_event_stream/build_event_stream_pb.ts";
import { uriOfBlob } from "./blob-of-uri.ts";
import { longest, most } from "./build-bounds.ts";
import type { BuildUpdate, NamedFile, TargetUpdate } from "./build-update.ts";
import { nameOfNumber } from "./name-of-number.ts";
import { countOf, msOf, readFiles, readPairs, timeOf } from "./read-fields.ts";
import { readMetrics } from "./read-metrics.ts";

/** Converts one of Bazel's events. Unused kinds return nothing. `project`: where its files are stored. */
export function readBazelEvent(event: BuildEvent, project: string): BuildUpdate[] {
  const { payload } = event;
  const id: BuildEventId["id"] = event.id?.id ?? { case: undefined };
  switch (payload.case) {
    case "started":
      return [readStarted(payload.value, event.children)];
    case "optionsParsed":
      return [
        {
          kind: "options",
          options: showableOptions(payload.value.cmdLine)
            .slice(0, most.options)
            .map((option) => keepableText(option, longest.option)),
        },
      ];
    case "workspaceStatus":
      return [
        {
          kind: "workspaceStatus",
          pairs: readPairs(payload.value.item.map(({ key, value }) => [key, value])),
        },
      ];
    case "buildMetadata":
      return [{ kind: "metadata", pairs: readPairs(Object.entries(payload.value.metadata)) }];
    case "progress": {
      const { stderr, stdout } = payload.value;
      const bytes = Buffer.concat([stderr, stdout]);
      return bytes.length === 0 ? [] : [{ kind: "printed", bytes }];
    }
    case "configured":
      if (id.case !== "targetConfigured") return [];
      return [
        { ...targetOf(id.value), targetKind: keepableText(payload.value.targetKind, longest.name) },
      ];
    case "completed":
      return id.case === "targetCompleted" ? readCompleted(id.value, payload.value, project) : [];
    case "namedSetOfFiles": {
      if (id.case !== "namedSet") return [];
      const { files, fileSets } = payload.value;
      const sets = fileSets.slice(0, most.setsOfSet).map(({ id }) => keepableText(id, longest.id));
      return [
        {
          kind: "fileSet",
          id: keepableText(id.value.id, longest.id),
          files: readFiles(files, most.filesOfSet),
          sets,
        },
      ];
    }
    case "testResult":
      return id.case === "testResult" ? [readTest(id.value, payload.value)] : [];
    case "testSummary": {
      if (id.case !== "testSummary") return [];
      const { overallStatus, totalRunDuration, totalRunDurationMillis } = payload.value;
      return [
        {
          ...targetOf({ label: id.value.label, aspect: "" }),
          testStatus: statusName(overallStatus),
          durationMs: msOf(totalRunDuration, totalRunDurationMillis),
        },
      ];
    }
    case "aborted":
      return readAborted(id, payload.value);
    case "action": {
      const { success, exitCode, type, failureDetail } = payload.value;
      if (success) return [];
      const whose = id.case === "actionCompleted" ? id.value.label : "";
      // The message is better, because it contains the exit code of the command, not that of its runner.
      const why = failureDetail?.message || `it ended with exit code ${exitCode}`;
      return [failure(`${[whose, type].filter((word) => word !== "").join(" ")}: ${why}`)];
    }
    case "finished":
      return [readFinished(payload.value)];
    case "buildMetrics":
      return [{ kind: "metrics", metrics: readMetrics(payload.value) }];
    case "buildToolLogs":
      return readProfile(payload.value.log);
    // The start event announced its pattern.
    case "expanded":
    case undefined:
      return [];
  }
}

function readStarted(started: BuildStarted, children: readonly BuildEventId[]): BuildUpdate {
  const patterns = children.flatMap(({ id }) => (id.case === "pattern" ? id.value.pattern : []));
  return {
    kind: "started",
    command: keepableText(started.command, longest.name),
    toolVersion: keepableText(started.buildToolVersion, longest.name),
    patterns: patterns
      .slice(0, most.patterns)
      .map((pattern) => keepableText(withoutPasswords(pattern), longest.label)),
    startedAt: timeOf(started.startTime, started.startTimeMillis),
  };
}

function readFinished(finished: BuildFinished): BuildUpdate {
  return {
    kind: "finished",
    exitCode: finished.exitCode?.code ?? 0,
    exitName: keepableText(finished.exitCode?.name ?? "", longest.name),
    finishedAt: timeOf(finished.finishTime, finished.finishTimeMillis),
    failure: sentenceOf(finished.failureDetail?.message ?? ""),
  };
}

function targetOf({ label, aspect }: { label: string; aspect: string }): TargetUpdate {
  return {
    kind: "target",
    label: keepableText(label, longest.label),
    aspect: keepableText(aspect, longest.label),
  };
}

function readCompleted(
  id: { label: string; aspect: string },
  { success, outputGroup, importantOutput }: TargetComplete,
  project: string,
): BuildUpdate[] {
  // Default output groups go before those that were requested by name.
  const groups = outputGroup.toSorted(
    (a, b) => Number(b.name === "default") - Number(a.name === "default"),
  );
  const sets = groups.flatMap(({ fileSets }) => fileSets.map(({ id }) => id));
  const inline = readInlineFiles(
    groups.flatMap(({ inlineFiles }) => inlineFiles),
    project,
  );
  const target: TargetUpdate = {
    ...targetOf(id),
    success,
    sets: sets.slice(0, most.setsOfSet).map((set) => keepableText(set, longest.id)),
    files: [
      ...inline.map(({ file }) => file),
      // The same files are repeated here when there are sets.
      ...(sets.length > 0 ? [] : readFiles(importantOutput, most.filesOfTarget)),
    ],
  };
  return [...inline.map(({ blob }) => blob), target];
}

/** Files with their content in the event: the bytes become blobs, and blob names identify the files. */
function readInlineFiles(
  files: readonly File[],
  project: string,
): { readonly file: NamedFile; readonly blob: BuildUpdate }[] {
  return files.slice(0, most.filesOfTarget).flatMap(({ name, file }) => {
    if (file.case !== "contents") return [];
    const bytes = file.value;
    const digest = digestOf(bytes);
    return [
      {
        file: { name: keepableText(name, longest.label), uri: uriOfBlob({ project, digest }) },
        blob: { kind: "blob", digest, bytes },
      },
    ];
  });
}

function readTest(id: BuildEventId_TestResultId, result: TestResult): BuildUpdate {
  return {
    kind: "test",
    label: keepableText(id.label, longest.label),
    configuration: keepableText(id.configuration?.id ?? "", longest.id),
    run: countOf(id.run),
    shard: countOf(id.shard),
    attempt: countOf(id.attempt),
    status: statusName(result.status),
    startedAt: timeOf(result.testAttemptStart, result.testAttemptStartMillisEpoch),
    durationMs: msOf(result.testAttemptDuration, result.testAttemptDurationMillis),
    cached: result.cachedLocally || (result.executionInfo?.cachedRemotely ?? false),
    files: readFiles(result.testActionOutput, most.filesOfTest),
  };
}

/** No failure of the target: it was left out on request or because another one failed. */
const blameless: ReadonlySet<Aborted_AbortReason> = new Set([
  Aborted_AbortReason.SKIPPED,
  Aborted_AbortReason.NO_ANALYZE,
  Aborted_AbortReason.NO_BUILD,
  Aborted_AbortReason.INCOMPLETE,
]);

function readAborted(id: BuildEventId["id"], { reason, description }: Aborted): BuildUpdate[] {
  const name = nameOfNumber(Aborted_AbortReason, reason) ?? "UNKNOWN";
  const text = description.trim();
  const news: BuildUpdate[] = [];
  if (id.case === "targetCompleted" || id.case === "targetConfigured") {
    const aborted = keepableText(
      withoutPasswords(text === "" ? name : `${name}: ${text}`),
      longest.failure,
    );
    const failed = blameless.has(reason) ? {} : { success: false };
    news.push({ ...targetOf(id.value), aborted, ...failed });
  }
  if (!blameless.has(reason)) news.push(failure(text || name));
  return news;
}

function readProfile(logs: readonly File[]): BuildUpdate[] {
  const [file] = readFiles(
    logs.filter(({ name }) => /profile/.test(name)),
    1,
  );
  return file === undefined ? [] : [{ kind: "profile", file }];
}

function failure(text: string): BuildUpdate {
  return { kind: "failure", sentence: sentenceOf(text) };
}

/** Returns the first paragraph: Bazel adds advice about its own flags. */
function sentenceOf(text: string): string {
  const [first = ""] = text.trim().split(/\n\s*\n/, 1);
  return keepableText(withoutPasswords(first), longest.failure);
}

function statusName(status: TestStatus): string {
  return nameOfNumber(TestStatus, status) ?? "NO_STATUS";
}
