"""Devices that have no more than WebGPU promises: all goldens and models, and goldens by the kernels of GPUs."""

from collections.abc import Iterator

import pytest
from browser.test_goldens import test_golden, test_model
from goldens import INT8_GOLDENS, Golden
from webq8.desktop.host import Browser, PythonPage
from webq8.paths import resource_dir

__all__ = ["test_golden", "test_model"]

# A phone: WebGPU's default limits, which are those of a device that was asked for without any, and no features.
PHONE = """
const { requestAdapter } = GPU.prototype;
GPU.prototype.requestAdapter = async function (options) {
  const { limits } = await (await requestAdapter.call(this, options)).requestDevice();
  const adapter = await requestAdapter.call(this, options);
  const requestDevice = async ({ requiredLimits = {}, requiredFeatures = [] } = {}) => {
    const beyond = Object.keys(requiredLimits).filter((name) => requiredLimits[name] > limits[name]);
    if (beyond.length + requiredFeatures.length) throw new TypeError(`no ${[...beyond, ...requiredFeatures]} here`);
    return adapter.requestDevice();
  };
  return { limits, features: new Set(), info: adapter.info, requestDevice };
};
"""
# A GPU whose driver is too old for WebGPU's core: Chromium computes by OpenGL ES.
COMPATIBILITY = """
const { requestAdapter } = GPU.prototype;
GPU.prototype.requestAdapter = async function (options) {
  return options.featureLevel === "compatibility" ? requestAdapter.call(this, options) : null;
};
"""
BY_OPENGL_ES = ["--use-webgpu-adapter=opengles", "--use-gl=angle", "--use-angle=swiftshader"]
# what is patched, flags, invocations of a workgroup, and whether the device is one of WebGPU's core
KINDS = {"phone": (PHONE, [], 256, True), "compatibility": (COMPATIBILITY, BY_OPENGL_ES, 128, False)}


@pytest.fixture(scope="module", params=KINDS)
def webq8_page(request: pytest.FixtureRequest) -> Iterator[PythonPage]:
    """In the place of the plugin's: a page of such a device."""
    patch, flags, invocations, core = KINDS[request.param]
    with Browser(chrome=request.config.getoption("--webq8-chrome"), extra_args=flags) as browser:
        worker = "python_worker.js"
        browser.site.add(".webq8/patch.js", patch.encode())
        browser.site.add(f".webq8/{worker}", b'import "./patch.js";\n' + (resource_dir("web") / worker).read_bytes())
        with browser.page() as page:
            assert page.call(device) == (invocations, ["core-features-and-limits"] if core else [])
            yield page


# SwiftShader does not get to the end of compiling the depthwise one that comes to it through OpenGL ES.
FOR_GPUS = [golden for golden in INT8_GOLDENS if not golden.name.startswith("q8ta_conv2d_dw")]


@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("golden", FOR_GPUS, ids=lambda golden: golden.name)
def test_golden_by_kernels_for_gpus(webq8_page: PythonPage, golden: Golden) -> None:
    test_golden(webq8_page, golden)


async def device():
    """Its limit of invocations, which webq8 asks for no more of, and all its features."""
    from webq8.backends.browser import gpu

    raw = (await gpu.device()).raw
    return raw.limits.maxComputeInvocationsPerWorkgroup, [str(name) for name in raw.features]
