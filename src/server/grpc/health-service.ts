import { Fault } from "#core/fault.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "#proto/grpc/health/v1/health_pb.ts";
import type { ReadinessProbe } from "../health/readiness.ts";
import { servedServiceNames } from "./served-services.ts";

/**
 * The health service of gRPC. `SERVING` means the same as 200 of `GET /readyz`; all services have the status of the
 * server, because one process serves all of them. The empty name is the whole server.
 */
export function healthService(readiness: Pick<ReadinessProbe, "read" | "watch">): Method[] {
  const names = new Set(["", ...servedServiceNames()]);
  return methodsOf(Health, {
    async check({ service }) {
      if (!names.has(service)) {
        throw new Fault("not_found", `this server has no service ${JSON.stringify(service)}`);
      }
      return { status: statusOf((await readiness.read()).ready) };
    },

    async list() {
      const status = statusOf((await readiness.read()).ready);
      return { statuses: Object.fromEntries([...names].map((name) => [name, { status }])) };
    },

    async *watch({ service }, { signal }) {
      // The protocol keeps the stream of an unknown service open, in case it is added. Here none is ever added.
      if (!names.has(service)) {
        yield { status: ServingStatus.SERVICE_UNKNOWN };
        return;
      }
      for await (const ready of readiness.watch(signal)) yield { status: statusOf(ready) };
    },
  });
}

function statusOf(ready: boolean): ServingStatus {
  return ready ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
}
