import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  BuildEventSchema as BazelEventSchema,
  TestStatus,
} from "#proto/build_event_stream/build_event_stream_pb.ts";
import {
  type BuildEvent,
  BuildEventSchema,
  BuildEvent_BuildComponentStreamFinished_FinishType as FinishType,
} from "#proto/google/devtools/build/v1/build_events_pb.ts";

/** Packs an event of Bazel as the protocol sends it. */
export function bazelEvent(event: MessageInitShape<typeof BazelEventSchema>): BuildEvent {
  const value = anyPack(BazelEventSchema, create(BazelEventSchema, event));
  return create(BuildEventSchema, { event: { case: "bazelEvent", value } });
}

export function lastEvent(): BuildEvent {
  return create(BuildEventSchema, {
    event: { case: "componentStreamFinished", value: { type: FinishType.FINISHED } },
  });
}

/** A message that claims to be an event of Bazel and is not. */
export function brokenEvent(): BuildEvent {
  const value = { typeUrl: "type.googleapis.com/build_event_stream.BuildEvent" };
  return create(BuildEventSchema, {
    event: { case: "bazelEvent", value: { ...value, value: Buffer.from([0x0a, 0x7f, 1]) } },
  });
}

/** An unknown kind: an event with a field number that no version uses yet. */
export function unknownEvent(): BuildEvent {
  const known = toBinary(BazelEventSchema, create(BazelEventSchema, {}));
  const value = Buffer.concat([known, Buffer.from([0xa2, 0x9c, 0x01, 0x02, 0x08, 0x01])]);
  return create(BuildEventSchema, {
    event: {
      case: "bazelEvent",
      value: { typeUrl: "type.googleapis.com/build_event_stream.BuildEvent", value },
    },
  });
}

export const hashA = "a".repeat(64);
const uriOf = (name: string, hash = hashA) => ({
  name,
  file: { case: "uri" as const, value: `bytestream://farm.example:80/blobs/${hash}/12` },
});

const configuration = { id: "fastbuild" };
const text = (line: string) => Buffer.from(line);

export function started(command: string, patterns: readonly string[]): BuildEvent {
  return bazelEvent({
    children: [{ id: { case: "pattern", value: { pattern: [...patterns] } } }],
    payload: {
      case: "started",
      value: { command, buildToolVersion: "7.7.1", startTimeMillis: BigInt(Date.now()) },
    },
  });
}

export function printed(line: string): BuildEvent {
  return bazelEvent({ payload: { case: "progress", value: { stderr: text(line) } } });
}

export function configured(label: string, targetKind: string): BuildEvent {
  return bazelEvent({
    id: { id: { case: "targetConfigured", value: { label } } },
    payload: { case: "configured", value: { targetKind } },
  });
}

export function fileSet(id: string, files: readonly string[], sets: readonly string[] = []) {
  return bazelEvent({
    id: { id: { case: "namedSet", value: { id } } },
    payload: {
      case: "namedSetOfFiles",
      value: {
        files: files.map((name) => uriOf(name)),
        fileSets: sets.map((set) => ({ id: set })),
      },
    },
  });
}

export function completed(label: string, success: boolean, sets: readonly string[]): BuildEvent {
  return bazelEvent({
    id: { id: { case: "targetCompleted", value: { label, configuration } } },
    payload: {
      case: "completed",
      value: {
        success,
        outputGroup: [{ name: "default", fileSets: sets.map((id) => ({ id })) }],
      },
    },
  });
}

export function tested(label: string, attempt: number, status: TestStatus, shard = 1): BuildEvent {
  return bazelEvent({
    id: { id: { case: "testResult", value: { label, run: 1, shard, attempt, configuration } } },
    payload: {
      case: "testResult",
      value: {
        status,
        testAttemptStartMillisEpoch: 1_700_000_000_000n,
        testAttemptDurationMillis: 65n,
        testActionOutput: [uriOf("test.log")],
      },
    },
  });
}

export function summed(label: string, overallStatus: TestStatus): BuildEvent {
  return bazelEvent({
    id: { id: { case: "testSummary", value: { label, configuration } } },
    payload: { case: "testSummary", value: { overallStatus, totalRunDurationMillis: 130n } },
  });
}

export function finished(code: number, name: string): BuildEvent {
  return bazelEvent({
    id: { id: { case: "buildFinished", value: {} } },
    payload: {
      case: "finished",
      value: { exitCode: { code, name }, finishTimeMillis: BigInt(Date.now()) },
    },
  });
}

function statusItems(items: Readonly<Record<string, string>>): BuildEvent {
  const item = Object.entries(items).map(([key, value]) => ({ key, value }));
  return bazelEvent({ payload: { case: "workspaceStatus", value: { item } } });
}

/** One `bazel test` with a flaky test, a target that fails, and all surrounding events. */
export function sampleBuild(): BuildEvent[] {
  return [
    started("test", ["//app/...", "//lib:all"]),
    printed("Loading: \n"),
    bazelEvent({
      payload: {
        case: "optionsParsed",
        value: { cmdLine: ["--remote_header=authorization=Bearer x", "--jobs=4"] },
      },
    }),
    statusItems({
      BUILD_USER: "ada",
      BUILD_HOST: "desk",
      STABLE_GIT_COMMIT: "0123456789abcdef0123456789abcdef01234567",
      REPO_URL: "https://ada:secret@git.example/app.git",
    }),
    bazelEvent({
      payload: { case: "buildMetadata", value: { metadata: { ROLE: "CI", API_TOKEN: "x" } } },
    }),
    configured("//app:main", "cc_binary rule"),
    configured("//app:flaky", "sh_test rule"),
    configured("//lib:bad", "genrule rule"),
    fileSet("0", ["deep.txt"]),
    fileSet("1", ["main"], ["0"]),
    completed("//app:main", true, ["1"]),
    bazelEvent({
      id: { id: { case: "actionCompleted", value: { label: "//lib:bad" } } },
      payload: { case: "action", value: { success: false, exitCode: 3, type: "Genrule" } },
    }),
    completed("//lib:bad", false, []),
    printed("ERROR: \u001b[31mbad\u001b[0m failed\n"),
    tested("//app:flaky", 1, TestStatus.FAILED),
    tested("//app:flaky", 2, TestStatus.PASSED),
    completed("//app:flaky", true, []),
    summed("//app:flaky", TestStatus.FLAKY),
    unknownEvent(),
    finished(1, "BUILD_FAILURE"),
    bazelEvent({
      payload: { case: "buildToolLogs", value: { log: [uriOf("command.profile.gz")] } },
    }),
    bazelEvent({
      payload: {
        case: "buildMetrics",
        value: {
          timingMetrics: { wallTimeInMs: 2_189n },
          actionSummary: {
            actionsExecuted: 10n,
            runnerCount: [{ name: "remote cache hit", count: 7 }],
          },
        },
      },
    }),
    lastEvent(),
  ];
}
