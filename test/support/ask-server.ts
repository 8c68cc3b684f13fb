/** Returns the response of a server's API, with any status. A body is sent as JSON. */
export async function askServer(
  { url }: { readonly url: string },
  method: string,
  path: string,
  body?: unknown,
  token?: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(`${url.replace(/\/$/, "")}/api/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

/** Posts, and returns the API's response. Throws a refusal, with its status. */
export async function postTo<T>(
  server: { readonly url: string },
  path: string,
  body: unknown,
  token?: string,
): Promise<T> {
  const answer = await askServer(server, "POST", path, body, token);
  if (answer.status < 300) return answer.body as T;
  throw new Error(`${answer.status} ${path}: ${JSON.stringify(answer.body)}`);
}
