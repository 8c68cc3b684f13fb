import type { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { accessHandlers } from "./access-handlers.ts";
import { autoscalingHandlers } from "./autoscaling-handlers.ts";
import { benchmarkCollectorHandlers } from "./benchmark-collector-handlers.ts";
import { benchmarkHistoryHandlers } from "./benchmark-history-handlers.ts";
import { benchmarkRequestHandlers } from "./benchmark-request-handlers.ts";
import { benchmarkSearchHandlers } from "./benchmark-search-handlers.ts";
import { benchmarkSuiteHandlers } from "./benchmark-suite-handlers.ts";
import { cacheHandlers } from "./cache-handlers.ts";
import { catalogHandlers } from "./catalog-handlers.ts";
import { enrolmentHandlers } from "./enrolment-handlers.ts";
import { executionHandlers } from "./execution-handlers.ts";
import { flakyHandlers } from "./flaky-handlers.ts";
import { forgeHandlers } from "./forge-handlers.ts";
import { granaryHandlers } from "./granary-handlers.ts";
import { graphHandlers } from "./graph-handlers.ts";
import type { HandlerServices } from "./handler-services.ts";
import { invocationHandlers } from "./invocation-handlers.ts";
import { jobHandlers } from "./job-handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { projectHandlers } from "./project-handlers.ts";
import { repositoryHandlers } from "./repository-handlers.ts";
import { rerunHandlers } from "./rerun-handlers.ts";
import { retentionHandlers } from "./retention-handlers.ts";
import { searchHandlers } from "./search-handlers.ts";
import { secretHandlers } from "./secret-handlers.ts";
import { serverHandlers } from "./server-handlers.ts";
import { sessionHandlers } from "./session-handlers.ts";
import { shareHandlers } from "./share-handlers.ts";
import { sizeClassHandlers } from "./size-class-handlers.ts";
import { timesHandlers } from "./times-handlers.ts";
import { workerHandlers } from "./worker-handlers.ts";

/** The handler of every endpoint. */
export type AllHandlers = HandlersFor<typeof allEndpoints>;

export function allHandlers(services: HandlerServices): AllHandlers {
  return {
    ...serverHandlers(services),
    ...graphHandlers(services),
    ...jobHandlers(services),
    ...flakyHandlers(services),
    ...rerunHandlers(services),
    ...catalogHandlers(services),
    ...repositoryHandlers(services),
    ...searchHandlers(services),
    ...timesHandlers(services),
    ...benchmarkSuiteHandlers(services),
    ...benchmarkRequestHandlers(services),
    ...accessHandlers(services),
    ...keyHandlers(services),
    ...enrolmentHandlers(services),
    ...secretHandlers(services),
    ...workerHandlers(services),
    ...retentionHandlers(services),
    ...projectHandlers(services),
    ...cacheHandlers(services),
    ...benchmarkHistoryHandlers(services),
    ...benchmarkSearchHandlers(services),
    ...benchmarkCollectorHandlers(services),
    ...sizeClassHandlers(services),
    ...autoscalingHandlers(services),
    ...granaryHandlers(services),
    ...invocationHandlers(services),
    ...executionHandlers(services),
    ...sessionHandlers(services),
    ...forgeHandlers(services),
    ...shareHandlers(services),
  };
}
