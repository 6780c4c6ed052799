package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Decodes replies of any type for Lettuce: lists and maps with strings, numbers, Booleans, and null. */
public final class AnyOutput extends CommandOutput<String, String, Object> {
    private final Deque<Open> open = new ArrayDeque<>();

    /** A list that is still missing some of its elements. */
    private record Open(List<Object> elements, int size) {}

    public AnyOutput() {
        super(StringCodec.UTF8, null);
    }

    private void add(Object element) {
        if (open.isEmpty()) {
            output = element;
            return;
        }
        open.peek().elements().add(element);
        closeFull();
    }

    private void closeFull() {
        while (!open.isEmpty() && open.peek().elements().size() == open.peek().size()) {
            add(open.pop().elements());
        }
    }

    @Override
    public void multi(int size) {
        if (size < 0) {
            add(null);
            return;
        }
        open.push(new Open(new ArrayList<>(), size));
        closeFull();
    }

    @Override
    public void multiMap(int size) {
        multi(2 * size);
    }

    @Override
    public void multiSet(int size) {
        multi(size);
    }

    @Override
    public void set(ByteBuffer bytes) {
        add(bytes == null ? null : UTF_8.decode(bytes).toString());
    }

    @Override
    public void set(long number) {
        add(number);
    }

    @Override
    public void set(boolean truth) {
        add(truth);
    }
}
