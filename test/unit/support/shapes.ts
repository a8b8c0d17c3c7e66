// Whether V8 has objects of one kind in one shape: what reads many of them is several times as fast then.
import { setFlagsFromString } from 'node:v8';

function natively(call: string): (...args: readonly unknown[]) => unknown {
  setFlagsFromString('--allow-natives-syntax');
  try {
    return new Function('one', 'other', `return ${call}`) as () => unknown;
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}

const haveSameShape = natively('%HaveSameMap(one, other)');

export const areOfOneShape = (objects: readonly object[]): boolean =>
  objects.every((one) => haveSameShape(objects[0], one) === true);
