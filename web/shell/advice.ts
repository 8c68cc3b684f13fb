interface Advice {
  readonly title: string;
  readonly whatToDo: string;
  readonly command?: string;
}

/** By the answer's HTTP status: 0 means no answer, undefined means an error in the page itself. */
export function adviceFor(status: number | undefined): Advice {
  if (status === undefined) {
    return {
      title: "This page has a fault",
      whatToDo:
        "The page could not show what the server sent. They may be of different versions: reload the page. If it stays, the sentence below belongs in a report.",
    };
  }
  if (status === 0) {
    return {
      title: "The server does not respond",
      whatToDo:
        "It may be restarting, or it may have been stopped. If it runs on your machine, start it again; nothing that it had accepted is lost.",
      command: "npm start",
    };
  }
  if (status === 404) {
    return {
      title: "Not here",
      whatToDo:
        "The farm does not know it. The address may be incomplete, or belong to another farm.",
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
      "This is a fault of the server, and its log contains more. A check of its environment may show the cause.",
    command: "grange doctor",
  };
}
