import sys,time
sys.path.insert(0,'/work/main/tests')
import numpy as np, pytest
from cases.shape import SHAPE_CASES; from cases.elementwise import ELEMENTWISE_CASES
from webq8 import ops
from webq8.runtime import drive
import os
async def run(op, args):
    import webq8
    result = getattr(webq8.ops, op)(*args)
    return [await y.buffer() for y in (result if isinstance(result, tuple) else (result,))]
def expected(case):
    r=getattr(ops,case.op)(*case.args())
    return [drive(y.numpy("cpu")) for y in (r if isinstance(r,tuple) else (r,))]
def test_all(webq8_page):
    bad=0; t=time.time(); worst={}
    only=os.environ.get("ONLY","").split()
    for case in ELEMENTWISE_CASES+SHAPE_CASES:
        if only and case.op not in only: continue
        try:
            got=webq8_page.call(run,case.op,list(case.args()))
        except Exception as e:
            print("EXC",case.id,str(e)[:600]); bad+=1; 
            if bad>12: break
            continue
        for g,w in zip(got,expected(case),strict=True):
            if (g.shape,g.dtype)!=(w.shape,w.dtype): print("SHAPE",case.id,g.shape,w.shape); bad+=1;continue
            try:
                if case.rtol or case.atol:
                    f=np.isfinite(w)&np.isfinite(g)&(w!=0)
                    if f.any():
                        e=np.abs(g[f].astype(float)-w[f]); rel=(np.maximum(e-case.atol,0)/np.abs(w[f])).max(); 
                        worst[case.op]=max(worst.get(case.op,(0,))[0],rel), case.rtol
                    np.testing.assert_allclose(g,w,case.rtol,case.atol,err_msg=case.id)
                else: np.testing.assert_array_equal(g,w,case.id)
            except AssertionError as e: print("FAIL",str(e)[:900]); bad+=1
    print("bad",bad,time.time()-t); print(worst)
    assert not bad
