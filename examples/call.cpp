// call.cpp - the library from C++: handles as unique_ptr, errors as exceptions, a lambda as callback.
//     c++ -std=c++14 call.cpp $(pkg-config --cflags --libs fathom) -o call && ./call
#include <fathom/fathom.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

void check(fathom_status status) {
    if (status != FATHOM_OK)
        throw std::runtime_error(fathom_last_error());
}

template <class T> using handle = std::unique_ptr<T, void (*)(T *)>;

handle<fathom_device> open_device(const char *selector) {
    fathom_device *device = nullptr;
    check(fathom_device_open(&device, selector, nullptr));
    return {device, fathom_device_close};
}

handle<fathom_data> load(const char *name) {
    fathom_data *data = nullptr;
    check(fathom_data_load(&data, name, nullptr));
    return {data, fathom_data_free};
}

} // namespace

int main() try {
    auto device = open_device(nullptr);
    auto data = load("karate");
    fathom_train_options options;
    check(fathom_train_options_init(&options, sizeof options));
    std::vector<double> losses;
    options.layers = 6;
    options.epochs = 40;
    options.user = &losses;
    options.progress = [](void *user, const fathom_epoch *epoch) {
        static_cast<std::vector<double> *>(user)->push_back(epoch->loss);
        return 0;
    };
    fathom_model *made = nullptr;
    check(fathom_train(&made, device.get(), data.get(), &options));
    handle<fathom_model> model(made, fathom_model_free);
    fathom_scores scores{};
    scores.size = sizeof scores;
    check(fathom_evaluate(model.get(), device.get(), data.get(), &scores, nullptr, nullptr, 0));
    std::printf("fathom %s: loss %.3f -> %.3f in %zu epochs, test accuracy %.3f\n", fathom_version(), losses.front(),
                losses.back(), losses.size(), scores.test_accuracy);
    return losses.back() < losses.front() ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "call: %s\n", error.what());
    return 1;
}
