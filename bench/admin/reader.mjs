// Asks for a page again and again, until it is ended: a process of its own, so that what reads yields
// to what makes the load and measures it.
//   node reader.mjs PORT PATH
import { fetchPage } from './contestant.mjs';

const [port, path] = process.argv.slice(2);
while (true) await fetchPage(Number(port), path);
