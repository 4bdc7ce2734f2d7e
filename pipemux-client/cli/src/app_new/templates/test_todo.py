"""Tests of the model; `pipemux app check` tests the rest."""

import unittest

from todo import Todo


class TodoTest(unittest.TestCase):
    def test_done_item_is_gone(self) -> None:
        todo = Todo()
        todo.add("buy milk")
        todo.add("sleep")
        todo.done(todo.items[0])
        self.assertEqual([item.label for item in todo.items], ["sleep"])


if __name__ == "__main__":
    unittest.main()
