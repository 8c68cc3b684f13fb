/** The forms of the farm's own tokens, of signed tokens, and of parameters in which others pass secrets. */
const ours = /grange_[A-Za-z0-9_-]{43}/;
const signed = /(?:^|[=&?/;,])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/;
const secretParameter = /[?&;](?:access_token|bearer_token|id_token|api_key|apikey|auth_token)=/i;

/**
 * Whether an address contains a secret. Addresses stay in histories, in logs of proxies and in referrers; a client that
 * passes its token in this way learns it at once, and not after the leak.
 */
export function holdsToken(address: string): boolean {
  return [address, decoded(address)].some(
    (text) => ours.test(text) || signed.test(text) || secretParameter.test(text),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
