import { actionResultSuite } from "./action-results.ts";
import { artifactSuite } from "./artifacts.ts";
import { assistantSuite } from "./assistants.ts";
import { authSuite } from "./auth.ts";
import { cacheTokenSuite } from "./cache-tokens.ts";
import { casUploadSuite } from "./cas-uploads.ts";
import type { HostileSuite } from "./case.ts";
import { commentCommandSuite } from "./comment-commands.ts";
import { commentTextSuite } from "./comment-text.ts";
import { commitIndexSuite } from "./commit-indexes.ts";
import { forkPullRequestSuite } from "./fork-pull-request.ts";
import { graphPageSuite } from "./graph-pages.ts";
import { grpcMessageSuite } from "./grpc-messages.ts";
import { imageNameSuite } from "./images.ts";
import { importerSuite } from "./importers.ts";
import { jobTemplateSuite } from "./job-templates.ts";
import { jobTokenSuite } from "./job-tokens.ts";
import { logSuite } from "./logs.ts";
import { materialisedInputSuite } from "./materialised-inputs.ts";
import { outboundSuite } from "./outbound.ts";
import { registrySuite } from "./registries.ts";
import { rightsSuite } from "./rights.ts";
import { shareLinkSuite } from "./share-links.ts";
import { webApiSuite } from "./web-api.ts";
import { webhookSuite } from "./webhooks.ts";
import { workerApiSuite } from "./worker-api.ts";

/** All attackable interfaces, in the order of the report. */
export const hostileSuites: readonly HostileSuite[] = [
  casUploadSuite,
  actionResultSuite,
  materialisedInputSuite,
  grpcMessageSuite,
  workerApiSuite,
  authSuite,
  jobTemplateSuite,
  artifactSuite,
  logSuite,
  webhookSuite,
  commitIndexSuite,
  importerSuite,
  webApiSuite,
  outboundSuite,
  forkPullRequestSuite,
  commentTextSuite,
  commentCommandSuite,
  rightsSuite,
  shareLinkSuite,
  jobTokenSuite,
  cacheTokenSuite,
  graphPageSuite,
  imageNameSuite,
  registrySuite,
  assistantSuite,
];
