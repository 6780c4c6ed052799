package io.caravan.torture.embedded;

import io.caravan.StoreConfig;
import io.caravan.torture.round.Appetite;
import io.caravan.torture.round.SmallStore;
import io.caravan.torture.round.TortureSubject.Shift;
import java.nio.file.Path;
import java.util.List;

/**
 * The instructions that a child process receives as arguments.
 *
 * @param socket path of the socket for the child's messages
 * @param directory directory of the store
 * @param work whether the child writes at random, instead of reporting the contents of the store
 */
public record ChildPlan(Path socket, Path directory, boolean work, Shift shift, int workers, int lists) {
    List<String> toArguments() {
        return List.of(
                socket.toString(),
                directory.toString(),
                Boolean.toString(work),
                Integer.toString(shift.round()),
                Long.toString(shift.seed()),
                shift.appetite().name(),
                Boolean.toString(shift.smallDisk()),
                Integer.toString(workers),
                Integer.toString(lists));
    }

    public static ChildPlan parse(String[] arguments) {
        Shift shift = new Shift(
                Integer.parseInt(arguments[3]),
                Long.parseLong(arguments[4]),
                Appetite.valueOf(arguments[5]),
                Boolean.parseBoolean(arguments[6]));
        return new ChildPlan(
                Path.of(arguments[0]),
                Path.of(arguments[1]),
                Boolean.parseBoolean(arguments[2]),
                shift,
                Integer.parseInt(arguments[7]),
                Integer.parseInt(arguments[8]));
    }

    public StoreConfig config() {
        return SmallStore.config(directory, SmallStore.MAX_VALUE_BYTES);
    }
}
