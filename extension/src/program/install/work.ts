// The two ways between an installation and its caller: progress goes out, cancellation comes in.

export interface Work {
  /** Take a line for the log. */
  said(line: string): void;
  /** Describe the present step to the user. */
  stage(what: string): void;
  /** Aborted when the user cancels. */
  signal: AbortSignal;
}

/** Thrown where the user has cancelled. */
export class Cancelled extends Error {
  constructor() {
    super("The installation was cancelled.");
    this.name = "Cancelled";
  }
}
