import type { components } from "openapi-types-of-github";
import { userAnswer } from "./account-answers.ts";
import {
  type AnnotationState,
  type CheckState,
  type DeliveryState,
  type FakeState,
  installationId,
  nodeId,
  type RepositoryState,
  slugOf,
  stamp,
  userId,
} from "./fake-state.ts";

type Schemas = components["schemas"];

/** The fixed creation time of the app and its installations. */
const madeAt = "2026-01-01T00:00:00Z";

export function appAnswer(state: FakeState): NonNullable<Schemas["nullable-integration"]> {
  return {
    id: state.appId,
    slug: state.appName,
    node_id: nodeId("A", state.appId),
    client_id: "Iv23liFakeFakeFake01",
    owner: userAnswer(state, "grange-owner"),
    name: state.appName,
    description: null,
    external_url: "https://example.org",
    html_url: `${state.url}/apps/${state.appName}`,
    created_at: madeAt,
    updated_at: madeAt,
    permissions: { ...state.permissions },
    events: [...state.events],
  } satisfies NonNullable<Schemas["nullable-integration"]>;
}

export function installationAnswer(state: FakeState, owner: string): Schemas["installation"] {
  const id = installationId(state, owner);
  return {
    id,
    account: userAnswer(state, owner),
    repository_selection: "selected",
    access_tokens_url: `${state.url}/app/installations/${id}/access_tokens`,
    repositories_url: `${state.url}/installation/repositories`,
    html_url: `${state.url}/settings/installations/${id}`,
    app_id: state.appId,
    client_id: "Iv23liFakeFakeFake01",
    app_slug: state.appName,
    target_id: userId(state, owner),
    target_type: "User",
    permissions: { ...state.permissions },
    events: [...state.events],
    created_at: madeAt,
    updated_at: madeAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: null,
  } satisfies Schemas["installation"];
}

export function tokenAnswer(
  token: string,
  expiresAt: Date,
  permissions: Readonly<Record<string, string>>,
): Schemas["installation-token"] {
  return {
    token,
    expires_at: stamp(expiresAt),
    permissions: { ...permissions },
    repository_selection: "selected",
  } satisfies Schemas["installation-token"];
}

export function hookConfigAnswer(state: FakeState): Schemas["webhook-config"] {
  const { url, secret } = state.webhook;
  return {
    content_type: "json",
    insecure_ssl: "0",
    ...(url === undefined ? {} : { url }),
    ...(secret === undefined ? {} : { secret: "********" }),
  } satisfies Schemas["webhook-config"];
}

/** `id` is a bigint: numbers of deliveries are too large for exact JavaScript numbers. */
export function deliveryAnswer(delivery: DeliveryState) {
  return {
    id: delivery.id as unknown as number,
    guid: delivery.guid,
    delivered_at: stamp(delivery.at),
    redelivery: delivery.isAgain,
    duration: 0.1,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  } satisfies Schemas["hook-delivery-item"];
}

export function checkAnswer(
  state: FakeState,
  repository: RepositoryState,
  check: CheckState,
): Schemas["check-run"] {
  const url = `${state.url}/repos/${slugOf(repository)}/check-runs/${check.id}`;
  return {
    id: check.id,
    head_sha: check.sha,
    node_id: nodeId("CR", check.id),
    external_id: check.externalId,
    url,
    html_url: `${state.url}/${slugOf(repository)}/runs/${check.id}`,
    details_url: check.detailsUrl,
    status: check.status,
    conclusion: check.conclusion as Schemas["check-run"]["conclusion"],
    started_at: check.startedAt,
    completed_at: check.completedAt,
    output: {
      title: check.title,
      summary: check.summary,
      text: null,
      annotations_count: check.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    name: check.name,
    check_suite: { id: check.id + 1 },
    app: appAnswer(state),
    pull_requests: [],
  } satisfies Schemas["check-run"];
}

export function annotationAnswer(
  state: FakeState,
  repository: RepositoryState,
  annotation: AnnotationState,
): Schemas["check-annotation"] {
  return {
    ...annotation,
    start_column: null,
    end_column: null,
    title: null,
    raw_details: null,
    blob_href: `${state.url}/${slugOf(repository)}/blob/${annotation.path}`,
  } satisfies Schemas["check-annotation"];
}
