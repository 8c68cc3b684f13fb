/** Sends requests with the cookies that it was given, as a browser does, and follows no redirect. */
export interface Browser {
  /** By name. What is put in here is sent, whoever set it. */
  readonly cookies: Map<string, string>;
  send(url: string, init?: RequestInit): Promise<Response & { readonly url: string }>;
}

/** One host's: ports share cookies, as they do in browsers. */
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
