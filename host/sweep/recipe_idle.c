/* recipe_idle.c - keys of a recipe that change none of its runs (recipe.h). */
#include <string.h>

#include "sweep/recipe_key.h"

const char *recipe_key_name(int i) { return i >= 0 && i < RECIPE_KEY_COUNT ? recipe_keys[i].name : NULL; }

static bool has(const recipe_strings *list, const char *value) {
    return recipe_index_of(value, (const char *const *)list->value, (size_t)list->count) >= 0;
}

static bool has_depth(const recipe_numbers *list, int64_t depth) {
    for (int i = 0; i < list->count; i++)
        if ((int64_t)list->value[i] == depth)
            return true;
    return false;
}

/* SGC has no hidden layer; nor has a network of one layer, except GCNII. */
static bool has_hidden_layer(const sweep_recipe *recipe, nn_conv_kind model) {
    const recipe_numbers *layers = recipe_layers(recipe, model);
    if (model == NN_SGC || model == NN_GCNII)
        return model == NN_GCNII;
    for (int i = 0; i < layers->count; i++)
        if (layers->value[i] > 1)
            return true;
    return false;
}

static bool is_hidden_used(const sweep_recipe *recipe) {
    for (int m = 0; m < NN_CONV_COUNT; m++)
        if (has(&recipe->models, recipe_model_names[m]) && has_hidden_layer(recipe, (nn_conv_kind)m))
            return true;
    return false;
}

/* Do models without a list of depths of their own exist? */
static bool is_common_list_used(const sweep_recipe *recipe) {
    for (int m = 0; m < NN_CONV_COUNT; m++)
        if (has(&recipe->models, recipe_model_names[m]) && recipe->layers[m].count == 0)
            return true;
    return false;
}

/* Is there a model that takes skip connections? */
static bool skips(const sweep_recipe *recipe) {
    for (int m = 0; m < NN_CONV_COUNT; m++)
        if (has(&recipe->models, recipe_model_names[m]) && nn_takes_skip((nn_conv_kind)m))
            return true;
    return false;
}

/* The same runs as grid_cell_is_plotted. */
static bool is_plotted(const sweep_recipe *recipe) {
    nn_conv_kind model = (nn_conv_kind)recipe->embedding_model;
    return has(&recipe->models, recipe_model_names[model]) &&
           has_depth(recipe_layers(recipe, model), recipe->embedding_layers) &&
           (has(&recipe->norms, "none") || has(&recipe->norms, "group"));
}

static const char *layers_reason(const sweep_recipe *recipe, int list) {
    if (list == NN_CONV_COUNT)
        return is_common_list_used(recipe) ? NULL : "every model has depths of its own";
    return has(&recipe->models, recipe_model_names[list]) ? NULL : "its model is not among the models";
}

/* Settings of one norm or model, by the owners of settings.h. */
static const char *owner_reason(const sweep_recipe *recipe, size_t member) {
#define REASON_ANY NULL
#define REASON_GROUP_NORM (has(&recipe->norms, "group") ? NULL : "it belongs to norm group")
#define REASON_GCNII (has(&recipe->models, "gcnii") ? NULL : "it belongs to model gcnii")
#define REASON_GAT (has(&recipe->models, "gat") ? NULL : "it belongs to model gat")
#define REASON_BIAS \
    (has(&recipe->models, "gcn") || has(&recipe->models, "gat") ? NULL : "it belongs to models gcn and gat")
#define REASON_NORM (recipe->norms.count == 1 && has(&recipe->norms, "none") ? "no run has a norm" : NULL)
#define REASON_ACT (recipe->models.count == 1 && has(&recipe->models, "sgc") ? "model sgc has no ReLU" : NULL)
#define REASON_SKIP (skips(recipe) ? NULL : "it belongs to models gcn and gat")
#define REASON_SKIP_WEIGHT                                                                \
    (skips(recipe) && (has(&recipe->skips, "residual") || has(&recipe->skips, "initial")) \
         ? NULL                                                                           \
         : "it belongs to skip residual and initial, of models gcn and gat")
#define X(name, kind, setting, owner, ...)                  \
    if (member == offsetof(sweep_recipe, settings.setting)) \
        return REASON_##owner;
    SETTINGS_RECIPE(X)
#undef X
    if (member == offsetof(sweep_recipe, skips))
        return REASON_SKIP;
#define X(name, kind, setting, owner, ...)      \
    if (member == offsetof(sweep_recipe, name)) \
        return REASON_##owner;
    SETTINGS_GROUP_NORM(X) /* lists in a recipe */
#undef X
    return NULL;
}

const char *recipe_idle_reason(const sweep_recipe *recipe, int i) {
    const size_t member = recipe_keys[i].offset;
    if (!(recipe->given >> i & 1))
        return NULL;
    for (int list = 0; list <= NN_CONV_COUNT; list++)
        if (member == offsetof(sweep_recipe, layers[list]))
            return layers_reason(recipe, list);
    if (member == offsetof(sweep_recipe, settings.net.hidden))
        return is_hidden_used(recipe) ? NULL : "no run has a hidden layer";
    if (recipe_keys[i].type == RECIPE_RUN)
        return is_plotted(recipe) ? NULL : "no run of norm none or group has this model and depth";
    return owner_reason(recipe, member);
}
