/** The forms of the farm's own tokens, of signed tokens, and of parameters in which other programs pass secrets. */
const ours = /grange_[A-Za-z0-9_-]{43}/;
const signed = /(?:^|[=&?/;,])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/;
const secretParameter = /[?&;](?:access_token|bearer_token|id_token|api_key|apikey|auth_token)=/i;

/**
 * Returns whether an address contains a secret. Addresses are stored in histories, in logs of proxies and in referrers;
 * so a client that passes its token in this way gets an error at once, and not after a leak.
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
