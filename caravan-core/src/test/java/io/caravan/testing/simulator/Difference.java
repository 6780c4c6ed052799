package io.caravan.testing.simulator;

import io.caravan.testing.StoreContents;
import io.caravan.testing.StoreContents.ListContents;
import io.caravan.testing.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/** Describes the differences between two states. */
final class Difference {
    private Difference() {}

    static String between(StoreContents expected, StoreContents found) {
        List<String> lines = new ArrayList<>();
        TreeSet<Long> ids = new TreeSet<>(expected.lists().keySet());
        ids.addAll(found.lists().keySet());
        for (long id : ids) {
            ListContents wanted = expected.lists().get(id);
            ListContents there = found.lists().get(id);
            if (!Objects.equals(wanted, there)) {
                lines.add("list " + id + ": should be " + describe(wanted) + ", is " + describe(there)
                        + firstOther(wanted, there));
            }
        }
        return String.join("\n", lines);
    }

    private static String describe(ListContents list) {
        return list == null ? "missing" : list.info().toString();
    }

    private static String firstOther(ListContents wanted, ListContents there) {
        List<Value> expected = wanted == null ? List.of() : wanted.values();
        List<Value> found = there == null ? List.of() : there.values();
        for (int i = 0; i < Math.min(expected.size(), found.size()); i++) {
            if (!expected.get(i).equals(found.get(i))) {
                return "; first other value " + found.get(i) + " instead of " + expected.get(i);
            }
        }
        return "";
    }
}
