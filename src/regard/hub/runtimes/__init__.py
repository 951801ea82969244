"""Models for other people's runtimes: as graphs in ONNX, and as folders of CTranslate2."""
