import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { Code } from "#proto/google/rpc/code_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "#proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "#proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { refusal } from "./foreign-client.ts";
import type { SharedFarm } from "./shared-farm.ts";

const cas = "build.bazel.remote.execution.v2.ContentAddressableStorage";

/** Services of gRPC itself, which load balancers and programs for people call. */
export function serviceRules(farm: () => SharedFarm): void {
  describe("Health", () => {
    test.each(["", cas, "grpc.health.v1.Health"])(
      "the status of %j is sent to a caller without a token (Kubernetes, grpc_health_probe)",
      async (service) => {
        const answer = await farm().client.unary(Health.method.check, { service });

        expect(answer.status).toBe(Status.SERVING);
      },
    );

    test("an unknown service is NOT_FOUND for Check, and SERVICE_UNKNOWN for Watch", async () => {
      const service = "no.such.Service";
      const checked = await refusal(farm().client.unary(Health.method.check, { service }));
      const watched = await farm().client.stream(Health.method.watch, { service }).next();

      expect(checked.code).toBe(Code.NOT_FOUND);
      expect(watched.status).toBe(Status.SERVICE_UNKNOWN);
    });

    test("Watch sends the status at once, and stays open (grpc-go's client-side health checks)", async () => {
      const watching = farm().client.stream(Health.method.watch, {});

      expect((await watching.next()).status).toBe(Status.SERVING);
      const next = watching.next().catch(() => "cut");
      watching.cut();
      expect(await next).toBe("cut");
    });

    test("List names each service of reflection, and the server itself", async () => {
      const { statuses } = await farm().client.unary(Health.method.list, {});

      expect(statuses[""]?.status).toBe(Status.SERVING);
      expect(
        Object.keys(statuses)
          .filter((name) => name !== "")
          .toSorted(),
      ).toEqual((await servicesBy(ServerReflection)).toSorted());
    });

    test("an invalid token is refused as everywhere", async () => {
      const headers = { authorization: `Bearer grange_${"A".repeat(43)}` };

      const refused = await refusal(farm().client.unary(Health.method.check, {}, headers));

      expect(refused.code).toBe(Code.UNAUTHENTICATED);
    });
  });

  describe.each([
    ["v1", ServerReflection],
    ["v1alpha", ServerReflectionAlpha],
  ] as const)("Reflection %s", (_, protocol) => {
    const ask = (...requests: Parameters<typeof answersOf>[1]) => answersOf(protocol, requests);

    test("the served services are listed (grpcurl list)", async () => {
      const names = await servicesBy(protocol);

      expect(names).toEqual(
        expect.arrayContaining([cas, "google.bytestream.ByteStream", "grpc.health.v1.Health"]),
      );
    });

    test.each([
      cas,
      `${cas}.FindMissingBlobs`,
      "build.bazel.remote.execution.v2.Action",
      "build.bazel.remote.execution.v2.Action.salt",
      "build.bazel.remote.execution.v2.Digest",
    ])("the file of %s comes with all files that it imports (grpcurl describe)", async (symbol) => {
      const [answer] = await ask({ case: "fileContainingSymbol", value: symbol });

      const files = filesIn(answer);
      const names = new Set(files.map(({ name }) => name));
      expect(files[0]?.name).toBe("build/bazel/remote/execution/v2/remote_execution.proto");
      expect(
        files.flatMap(({ dependency }) => dependency).filter((name) => !names.has(name)),
      ).toEqual([]);
    });

    test("a stream gets each imported file once", async () => {
      const [first, second] = await ask(
        { case: "fileContainingSymbol", value: "google.longrunning.Operations" },
        { case: "fileByFilename", value: "google/longrunning/operations.proto" },
      );

      expect(filesIn(first).length).toBeGreaterThan(1);
      expect(filesIn(second).map(({ name }) => name)).toEqual([
        "google/longrunning/operations.proto",
      ]);
    });

    test("what is not there is an answer of the stream, and not its end", async () => {
      const answers = await ask(
        { case: "fileContainingSymbol", value: "no.such.Thing" },
        { case: "fileByFilename", value: "../../etc/passwd" },
        { case: "fileContainingExtension", value: { containingType: cas, extensionNumber: 1 } },
        { case: "allExtensionNumbersOfType", value: "build.bazel.remote.execution.v2.Action" },
        { case: undefined },
      );

      expect(answers.map(codeOf)).toEqual([
        Code.NOT_FOUND,
        Code.NOT_FOUND,
        Code.NOT_FOUND,
        Code.OK,
        Code.INVALID_ARGUMENT,
      ]);
    });
  });

  type Protocol = typeof ServerReflection | typeof ServerReflectionAlpha;
  type Question =
    | { case: "fileByFilename" | "fileContainingSymbol" | "listServices"; value: string }
    | { case: "allExtensionNumbersOfType"; value: string }
    | {
        case: "fileContainingExtension";
        value: { containingType: string; extensionNumber: number };
      }
    | { case: undefined };

  async function answersOf(protocol: Protocol, questions: readonly Question[]) {
    // The messages of both versions are the same on the wire.
    const { serverReflectionInfo } = (protocol as typeof ServerReflection).method;
    const messages = questions.map((messageRequest) => ({ messageRequest }));
    const headers = { authorization: `Bearer ${farm().readerToken}` };
    const answers = await farm().client.converse(serverReflectionInfo, messages, headers).rest();
    return answers.map(({ messageResponse }) => messageResponse);
  }

  async function servicesBy(protocol: Protocol): Promise<string[]> {
    const [answer] = await answersOf(protocol, [{ case: "listServices", value: "" }]);
    if (answer?.case !== "listServicesResponse") throw new Error(`answered ${answer?.case}`);
    return answer.value.service.map(({ name }) => name);
  }

  type Answer = Awaited<ReturnType<typeof answersOf>>[number];

  function filesIn(answer: Answer | undefined) {
    if (answer?.case !== "fileDescriptorResponse") throw new Error(`answered ${answer?.case}`);
    return answer.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
  }

  function codeOf(answer: Answer): number {
    return answer.case === "errorResponse" ? answer.value.errorCode : Code.OK;
  }
}
