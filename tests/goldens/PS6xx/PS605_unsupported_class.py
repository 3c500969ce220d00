class Recorder(dict):
    def record(self, value):
        self["value"] = value


def f(x):
    recorder = Recorder()
    recorder.record(x)
    return recorder["value"]


class Plain:
    def record(self, value):
        self.value = value


def rewritten(x):
    recorder = Plain()
    recorder.record(x)
    return recorder.value


arguments = (2.0,)
