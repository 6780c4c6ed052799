package io.caravan.server.archive.push;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What each document has been since the archive had it for certain, with what it was then as the first; null is none. */
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

    /** What the document is. */
    @Nullable
    CrashState last(String name) {
        List<@Nullable CrashState> history = history(name);
        return history.get(history.size() - 1);
    }

    /** Enters what the document becomes, before it does. */
    void becomes(String name, @Nullable CrashState state) {
        history(name).add(state);
    }

    /** Whether it has been so. */
    boolean wasSo(String name, @Nullable CrashState state) {
        return histories.containsKey(name) && history(name).contains(state);
    }

    /** How long each history is. */
    Map<String, Integer> lengths() {
        Map<String, Integer> lengths = new LinkedHashMap<>();
        histories.forEach((name, history) -> lengths.put(name, history.size()));
        return lengths;
    }

    /** The archive has for certain what was so when histories were that long. */
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
