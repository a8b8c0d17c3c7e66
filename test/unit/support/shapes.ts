// Whether V8 has objects of one kind in one shape: what reads many of them is several times as fast then.
import { setFlagsFromString } from 'node:v8';
import { compileFunction } from 'node:vm';

function natively(call: string): (...args: readonly unknown[]) => unknown {
  setFlagsFromString('--allow-natives-syntax');
  try {
    return compileFunction(`return ${call}`, ['one', 'other']) as () => unknown;
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}

const haveSameShape = natively('%HaveSameMap(one, other)');

export const areOfOneShape = (objects: readonly object[]): boolean =>
  objects.every((one) => haveSameShape(objects[0], one) === true);
