/** Sends requests with its cookies, as a browser does, and follows no redirect. */
export interface Browser {
  /** By name. All cookies in this map are sent, also those that a test has set. */
  readonly cookies: Map<string, string>;
  send(url: string, init?: RequestInit): Promise<Response & { readonly url: string }>;
}

/** For one host: ports share cookies, as in browsers. */
export function cookieJarBrowser(cookies = new Map<string, string>()): Browser {
  return {
    cookies,
    async send(url, init = {}) {
      const headers = new Headers(init.headers);
      const held = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      if (held !== "" && !headers.has("cookie")) headers.set("cookie", held);
      const response = await fetch(url, { ...init, headers, redirect: "manual" });
      for (const line of response.headers.getSetCookie()) {
        const [pair = "", ...attributes] = line.split(";");
        const at = pair.indexOf("=");
        const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
        const isGone = attributes.some((each) =>
          /^\s*(max-age=0|expires=thu, 01 jan 1970.*)$/i.test(each),
        );
        if (isGone || value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    },
  };
}
