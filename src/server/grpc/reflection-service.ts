import { createRegistry, type DescFile, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { type Method, methodsOf } from "#grpc/method.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "#proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { servedServiceNames, servedServices } from "./served-services.ts";

/** A question of the client; the messages of both versions of the protocol have this shape. */
type Question =
  | { readonly case: "fileByFilename"; readonly value: string }
  | { readonly case: "fileContainingSymbol"; readonly value: string }
  | {
      readonly case: "fileContainingExtension";
      readonly value: { readonly containingType: string; readonly extensionNumber: number };
    }
  | { readonly case: "allExtensionNumbersOfType"; readonly value: string }
  | { readonly case: "listServices"; readonly value: string }
  | { readonly case: undefined; readonly value?: undefined };

type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | {
      case: "allExtensionNumbersResponse";
      value: { baseTypeName: string; extensionNumber: number[] };
    }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

/** The protocols of the served services, as reflection describes them. */
interface Protocols {
  readonly files: ReadonlyMap<string, DescFile>;
  readonly types: Registry;
  /** Returns the encoded descriptor of a file; it is encoded once. */
  readonly encode: (file: DescFile) => Uint8Array;
}

/** The reflection services of gRPC: they describe the protocols of all served services. */
export function reflectionServices(): Method[] {
  const protocols = protocolsOfServices();
  return [
    ...methodsOf(ServerReflection, {
      serverReflectionInfo: (requests) => answersTo(requests, protocols),
    }),
    ...methodsOf(ServerReflectionAlpha, {
      serverReflectionInfo: (requests) => answersTo(requests, protocols),
    }),
  ];
}

async function* answersTo<
  Request extends { readonly host: string; readonly messageRequest: Question },
>(requests: AsyncIterable<Request>, protocols: Protocols) {
  const sent = new Set<string>();
  for await (const request of requests) {
    const messageResponse = answerTo(request.messageRequest, protocols, sent);
    yield { validHost: request.host, originalRequest: request, messageResponse };
  }
}

function protocolsOfServices(): Protocols {
  const files = new Map<string, DescFile>();
  for (const { file } of servedServices()) addWithDependencies(file, files);
  const encoded = new Map<DescFile, Uint8Array>();
  return {
    files,
    types: createRegistry(...files.values()),
    encode(file) {
      const bytes = encoded.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
      encoded.set(file, bytes);
      return bytes;
    },
  };
}

function addWithDependencies(file: DescFile, files: Map<string, DescFile>): void {
  if (files.has(nameOf(file))) return;
  files.set(nameOf(file), file);
  for (const dependency of file.dependencies) addWithDependencies(dependency, files);
}

/** The library leaves out the ending. */
function nameOf(file: DescFile): string {
  return `${file.name}.proto`;
}

/** @param sent the names of files that the stream has got; a file is sent with its dependencies that are not among them */
function answerTo(question: Question, protocols: Protocols, sent: Set<string>): Answer {
  switch (question.case) {
    case "fileByFilename": {
      const file = protocols.files.get(question.value);
      if (file === undefined) return notFound("file", question.value);
      return fileAnswer(file, protocols, sent);
    }
    case "fileContainingSymbol": {
      const file = fileOfSymbol(question.value, protocols.types);
      if (file === undefined) return notFound("symbol", question.value);
      return fileAnswer(file, protocols, sent);
    }
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      return notFound("extension", `${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      // The protocols of the farm have no extensions.
      const type = protocols.types.getMessage(question.value);
      if (type === undefined) return notFound("message", question.value);
      const value = { baseTypeName: type.typeName, extensionNumber: [] };
      return { case: "allExtensionNumbersResponse", value };
    }
    case "listServices": {
      const service = servedServiceNames().map((name) => ({ name }));
      return { case: "listServicesResponse", value: { service } };
    }
    case undefined:
      return {
        case: "errorResponse",
        value: {
          errorCode: Code.INVALID_ARGUMENT,
          errorMessage: "the request asks for nothing: set one field of message_request",
        },
      };
  }
}

/** Returns the file that declares a type, or a field, value or method of one. */
function fileOfSymbol(symbol: string, types: Registry): DescFile | undefined {
  const parent = symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
  const found = types.get(symbol);
  if (found !== undefined) return found.file;
  const local = symbol.slice(parent.length + 1);
  const type = types.get(parent);
  switch (type?.kind) {
    case "message":
      return [...type.fields, ...type.oneofs].some(({ name }) => name === local)
        ? type.file
        : undefined;
    case "service":
      return type.methods.some(({ name }) => name === local) ? type.file : undefined;
    case "enum":
    case "extension":
    case undefined:
      // The values of an enum are symbols beside it and not below it; no known client asks for one.
      return undefined;
  }
}

function fileAnswer(file: DescFile, { encode }: Protocols, sent: Set<string>): Answer {
  const files = new Map<string, DescFile>();
  addWithDependencies(file, files);
  const fileDescriptorProto: Uint8Array[] = [];
  for (const [name, each] of files) {
    if (each !== file && sent.has(name)) continue;
    sent.add(name);
    fileDescriptorProto.push(encode(each));
  }
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function notFound(kind: string, name: string): Answer {
  const errorMessage = `the protocols of this server have no ${kind} ${JSON.stringify(name.slice(0, 200))}`;
  return { case: "errorResponse", value: { errorCode: Code.NOT_FOUND, errorMessage } };
}
