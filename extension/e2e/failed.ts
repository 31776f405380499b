// Which files of tests have failed, as vitest's own report has it.

interface Report {
  testResults: { name: string; status: string }[];
}

/** Return the files that must be run once more: all that didn't pass. */
export function failedFiles(report: string): string[] {
  const { testResults } = JSON.parse(report) as Report;
  return testResults.flatMap(({ name, status }) => (status === "passed" ? [] : [name]));
}
