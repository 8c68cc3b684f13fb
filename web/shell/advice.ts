interface Advice {
  readonly title: string;
  readonly whatToDo: string;
  readonly command?: string;
}

/** By the answer's HTTP status: 0 means no answer, undefined means an error in the page itself. */
export function adviceFor(status: number | undefined): Advice {
  if (status === undefined) {
    return {
      title: "This page failed",
      whatToDo:
        "The page could not show the answer of the server. The page and the server may have different versions: reload the page. If the error remains, report it with the message below.",
    };
  }
  if (status === 0) {
    return {
      title: "The server does not respond",
      whatToDo:
        "It may be restarting, or somebody may have stopped it. If it runs on your machine, start it again. It keeps everything that it has accepted.",
      command: "npm start",
    };
  }
  if (status === 404) {
    return {
      title: "Not found",
      whatToDo:
        "The farm has nothing at this address. The address may be incomplete, or belong to another farm.",
    };
  }
  if (status === 401 || status === 403) {
    return {
      title: "Not allowed",
      whatToDo: "Sign in, or ask an administrator of this farm for a grant.",
    };
  }
  return {
    title: "The server could not process the request",
    whatToDo:
      "This is an error of the server. Its log contains the details. A check of its environment may show the cause.",
    command: "grange doctor",
  };
}
