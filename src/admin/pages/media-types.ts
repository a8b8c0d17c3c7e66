// Which form of Prometheus' page a client would like to get. Pure.

const TEXT = 'text/plain';
const PROTOBUF = 'application/vnd.google.protobuf';

/**
 * Whether protobuf comes before text among what an `accept` header names. As the real server reads
 * it: the order alone counts, not the weights, and neither wildcards nor parameters are looked at.
 */
export function prefersMetricFamilies(accept: string): boolean {
  for (const item of accept.split(',')) {
    const [mediaType] = withoutBlanks(item).split(';', 1);
    if (mediaType === PROTOBUF) return true;
    if (mediaType === TEXT) return false;
  }
  return false;
}

/** An expression would look at what follows from each of many blanks. */
function withoutBlanks(text: string): string {
  const isBlank = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  let first = 0;
  let end = text.length;
  while (isBlank(first)) first++;
  while (end > first && isBlank(end - 1)) end--;
  return text.slice(first, end);
}
