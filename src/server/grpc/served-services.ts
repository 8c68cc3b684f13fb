import type { DescService } from "@bufbuild/protobuf";
import { pathOf } from "#grpc/method.ts";
import { grpcServices } from "./grpc-services.ts";
import { methodRights } from "./method-rights.ts";

/** Returns the services of which the farm serves at least one method. */
export function servedServices(): DescService[] {
  return grpcServices
    .map(({ service }) => service)
    .filter(({ methods }) => methods.some((method) => pathOf(method) in methodRights));
}

/** Returns the full names of these services, such as `google.bytestream.ByteStream`. */
export function servedServiceNames(): string[] {
  return servedServices().map(({ typeName }) => typeName);
}
