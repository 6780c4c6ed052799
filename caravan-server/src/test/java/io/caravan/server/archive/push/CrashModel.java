package io.caravan.server.archive.push;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The history of each document, starting with the last state that is certainly archived. A null state means that the
 * document is absent.
 */
final class CrashModel {
    private final Map<String, List<@Nullable CrashState>> histories = new LinkedHashMap<>();

    CrashModel(List<String> names) {
        names.forEach(name -> histories.put(name, new ArrayList<>(Collections.singletonList(null))));
    }

    private CrashModel(CrashModel other) {
        other.histories.forEach((name, history) -> histories.put(name, new ArrayList<>(history)));
    }

    CrashModel copy() {
        return new CrashModel(this);
    }

    /** Returns the current state of the document. */
    @Nullable
    CrashState last(String name) {
        List<@Nullable CrashState> history = history(name);
        return history.get(history.size() - 1);
    }

    /** Records the next state of a document. The caller changes the document afterward. */
    void becomes(String name, @Nullable CrashState state) {
        history(name).add(state);
    }

    /** Whether the history of the document contains this state. */
    boolean wasSo(String name, @Nullable CrashState state) {
        return histories.containsKey(name) && history(name).contains(state);
    }

    /** Returns the length of each document's history. */
    Map<String, Integer> lengths() {
        Map<String, Integer> lengths = new LinkedHashMap<>();
        histories.forEach((name, history) -> lengths.put(name, history.size()));
        return lengths;
    }

    /**
     * Removes the states that precede the state that is now certainly archived: each document's last state when its
     * history had this length.
     */
    void archived(Map<String, Integer> lengths) {
        lengths.forEach((name, length) -> history(name).subList(0, length - 1).clear());
    }

    List<String> names() {
        return List.copyOf(histories.keySet());
    }

    String tell(String name) {
        return histories.containsKey(name) ? history(name).toString() : "was never written";
    }

    private List<@Nullable CrashState> history(String name) {
        return histories.getOrDefault(name, List.of());
    }
}
