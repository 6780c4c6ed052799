package outside;

import io.caravan.DurableListStore;
import io.caravan.Entry;
import io.caravan.ListStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Writes to a store, opens the store again, and reads the values. */
public final class Main {
    private static final long DOCUMENT = 7;

    private Main() {}

    /** Runs the program. The only argument is the store's directory. */
    public static void main(String[] arguments) {
        Path directory = Path.of(arguments[0]);
        try (ListStore store = DurableListStore.open(directory)) {
            require(store.append(DOCUMENT, bytes("first")).join() == 0, "the first value has sequence 0");
            require(store.append(DOCUMENT, bytes("second")).join() == 1, "the second value has sequence 1");
        }
        try (ListStore store = DurableListStore.open(directory)) {
            List<String> values = store.read(DOCUMENT).stream().map(Main::text).toList();
            require(values.equals(List.of("0 first", "1 second")), "both values are read back, not " + values);
        }
        System.out.println("ok");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Entry entry) {
        return entry.sequence() + " " + new String(entry.value(), StandardCharsets.UTF_8);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
