import numpy as np


def f(first_operand, second_operand):
    return np.tanh(first_operand.sum()) * np.cos(second_operand.sum()) + np.sin(first_operand.mean()) * np.exp(first_operand + second_operand)


def rewritten(first_operand, second_operand):
    return np.tanh(first_operand.sum()) + np.exp(first_operand[:, None] + second_operand)


arguments = (np.ones(3), np.ones(4))
